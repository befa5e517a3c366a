// float has no atomicMax: three ways around it

// the bits of floats are ordered like signed integers where positive, the other way round where negative
__device__ float atomic_max_bits(float *at, float v) {
  return v >= 0 ? __int_as_float(atomicMax((int *)at, __float_as_int(v)))
                : __uint_as_float(atomicMin((unsigned int *)at, __float_as_uint(v)));
}

// compare and swap until the cell is no less
__device__ void atomic_min_swap(float *at, float v) {
  int old = *(int *)at;
  while (v < __int_as_float(old)) {
    int seen = old;
    old = atomicCAS((int *)at, seen, __float_as_int(v));
  }
}

__global__ void extrema(const float *x, const int *bucket, float *high, float *low, float *size, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomic_max_bits(&high[bucket[i]], x[i]);
    atomic_min_swap(low + bucket[i], x[i]);
    atomicMax((int *)size, __float_as_int(fabsf(x[i])));
  }
}

// look first, swap until the cell is no less, leave when the value was stored
__device__ void atomic_max_looked(float *at, float v) {
  if (*at >= v) return;
  int old = *(int *)at;
  while (v > __int_as_float(old)) {
    int seen = old;
    old = atomicCAS((int *)at, seen, __float_as_int(v));
    if (old == seen) break;
  }
}

__global__ void column_max(const float *x, float *high, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y;
  if (c < cols && r < rows) atomic_max_looked(&high[c], x[r * cols + c]);
}
