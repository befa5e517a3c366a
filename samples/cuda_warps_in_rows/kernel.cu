// a row for each warp: blocks of 32 by some, and blocks of one row of warps
#define ALL 0xffffffffu

__global__ void row_norm(const float *x, float *norm, int rows, int cols) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  int lane = threadIdx.x;
  float v = 0.0f;
  if (row < rows)
    for (int c = lane; c < cols; c += 32) v += x[row * cols + c] * x[row * cols + c];
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(ALL, v, d);
  if (lane == 0 && row < rows) norm[row] = sqrtf(v);
}

__global__ void short_softmax(const float *x, float *y, int cols) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  int lane = threadIdx.x % 32;
  float v = lane < cols ? x[row * cols + lane] : -INFINITY;
  float top = v;
  for (int d = 16; d > 0; d /= 2) top = fmaxf(top, __shfl_xor_sync(ALL, top, d));
  float e = lane < cols ? expf(v - top) : 0.0f;
  float total = e;
  for (int d = 16; d > 0; d /= 2) total += __shfl_down_sync(ALL, total, d);
  float all = __shfl_sync(ALL, total, 0) + 0.0f;
  if (lane < cols) y[row * cols + lane] = e / all;
}
