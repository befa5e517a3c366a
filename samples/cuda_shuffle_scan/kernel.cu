// Running totals of a block by shuffles: each warp by itself, the totals of the warps by the first one.
__global__ void running_totals(const float *gain, float *sum, int count) {
  __shared__ float warp_total[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  float v = i < count ? gain[i] : 0.0f;
  for (int d = 1; d < 32; d <<= 1) {
    float before = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= d) v += before;
  }
  if (lane == 31) warp_total[warp] = v;
  __syncthreads();
  if (warp == 0) {
    float t = lane < blockDim.x / 32 ? warp_total[lane] : 0.0f;
    for (int d = 1; d < 32; d <<= 1) {
      float before = __shfl_up_sync(0xffffffffu, t, d);
      if (lane >= d) t += before;
    }
    warp_total[lane] = t;
  }
  __syncthreads();
  if (warp > 0) v += warp_total[warp - 1];
  if (i < count) sum[i] = v;
}
