// sums and maxima over warps and blocks by shuffles
template <typename T>
__device__ __forceinline__ T warp_sum(T v) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
  return v;
}

__device__ float warp_max(float v) {
#pragma unroll
  for (int mask = 16; mask; mask >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, mask));
  return v;
}

__device__ float block_sum(float v) {
  static __shared__ float partial[32];
  int lane = threadIdx.x % 32;
  int warp = threadIdx.x / 32;
  v = warp_sum(v);
  if (lane == 0) partial[warp] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? partial[lane] : 0.0f;
  if (warp == 0) v = warp_sum(v);
  return v;
}

// every block sums its part of x
__global__ void block_totals(const float *x, float *total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = block_sum(i < n ? x[i] : 0.0f);
  if (threadIdx.x == 0) total[blockIdx.x] = v;
}

// a dot product: warps sum, one lane of each adds
__global__ void dot(const float *a, const float *b, float *out, int n) {
  float v = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += a[i] * b[i];
  v = warp_sum(v);
  if ((threadIdx.x & 31) == 0) atomicAdd(out, v);
}

// one warp a row: a softmax
__global__ void softmax_rows(const float *x, float *y, int rows, int cols) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  int lane = threadIdx.x & 31;
  if (row >= rows) return;
  float top = -INFINITY;
  for (int c = lane; c < cols; c += 32) top = fmaxf(top, x[row * cols + c]);
  top = warp_max(top);
  float total = 0.0f;
  for (int c = lane; c < cols; c += 32) total += expf(x[row * cols + c] - top);
  for (int mask = 1; mask < 32; mask *= 2) total += __shfl_xor_sync(0xffffffff, total, mask);
  for (int c = lane; c < cols; c += 32) y[row * cols + c] = expf(x[row * cols + c] - top) / total;
}

// running sums within each warp
__global__ void warp_scan(const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int lane = threadIdx.x & 31;
  float v = x[i];
  for (int d = 1; d < 32; d *= 2) {
    float left = __shfl_up_sync(0xffffffff, v, d);
    if (lane >= d) v += left;
  }
  y[i] = v;
}
