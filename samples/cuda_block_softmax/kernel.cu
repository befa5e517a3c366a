// one block a row: its largest element and its sum in two reductions over warps, then over the block
__inline__ __device__ float largest(float v) {
  __shared__ float part[32];
  for (int d = 16; d > 0; d >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d, 32));
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = v;
  __syncthreads();
  v = (threadIdx.x & 31) < (blockDim.x >> 5) ? part[threadIdx.x & 31] : -INFINITY;
  for (int d = 16; d > 0; d >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d, 32));
  return v;
}

__inline__ __device__ float sum_of(float v) {
  __shared__ float part[32], whole;
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < (blockDim.x >> 5) ? part[threadIdx.x] : 0.0f;
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x == 0) whole = v;
  }
  __syncthreads();
  return whole;
}

__global__ void softmax(const float *x, float *y, int cols) {
  const float *in = x + blockIdx.x * cols;
  float *out = y + blockIdx.x * cols;
  float top = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) top = fmaxf(top, in[c]);
  top = largest(top);
  float total = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) total += expf(in[c] - top);
  total = sum_of(total);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) out[c] = expf(in[c] - top) / total;
}
