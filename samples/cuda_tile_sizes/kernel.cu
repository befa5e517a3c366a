// Tiles whose size is the template's: a block has so many threads, whichever size that is.

template <int T>
__global__ void project(const float *basis, const float *state, float *out, int modes, int cells) {
  __shared__ float left[T][T];
  __shared__ float right[T][T];
  int col = blockIdx.x * T + threadIdx.x, row = blockIdx.y * T + threadIdx.y;
  float sum = 0.0f;
  for (int tile = 0; tile < modes / T; ++tile) {
    left[threadIdx.y][threadIdx.x] = basis[row * modes + tile * T + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = state[(tile * T + threadIdx.y) * cells + col];
    __syncthreads();
    for (int k = 0; k < T; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  out[row * cells + col] = sum;
}

template <int B>
__global__ void mirror_blocks(const float *x, float *y) {
  __shared__ float held[B];
  held[threadIdx.x] = x[blockIdx.x * B + threadIdx.x];
  __syncthreads();
  y[blockIdx.x * B + threadIdx.x] = held[B - 1 - threadIdx.x];
}

// halving in shared memory as long as there are several warps, then one warp's shuffles
__global__ void tail_by_warp(const float *x, float *sums, int n) {
  extern __shared__ float part[];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 32; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    __syncthreads();
  }
  if (t < 32) {
    float v = part[t] + part[t + 32];
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    if (t == 0) sums[blockIdx.x] = v;
  }
}
