// the last warp needs no barrier: its lanes run in step
__device__ void warp_reduce(volatile float *s, unsigned int t) {
  s[t] += s[t + 32];
  s[t] += s[t + 16];
  s[t] += s[t + 8];
  s[t] += s[t + 4];
  s[t] += s[t + 2];
  s[t] += s[t + 1];
}

__global__ void reduce(const float *x, float *total, unsigned int n) {
  extern __shared__ float s[];
  unsigned int t = threadIdx.x;
  unsigned int i = blockIdx.x * blockDim.x * 2 + t;
  s[t] = (i < n ? x[i] : 0.0f) + (i + blockDim.x < n ? x[i + blockDim.x] : 0.0f);
  __syncthreads();
  for (unsigned int w = blockDim.x / 2; w > 32; w >>= 1) {
    if (t < w) s[t] += s[t + w];
    __syncthreads();
  }
  if (t < 32) warp_reduce(s, t);
  if (t == 0) total[blockIdx.x] = s[0];
}
