// One warp a row, its 32 lanes in steps of 32 over the columns: the source counts on blocks of 32 threads.
__global__ void log_softmax_rows(const float *score, float *out, int classes) {
  int row = blockIdx.x;
  int lane = threadIdx.x;
  float top = -INFINITY;
  for (int c = lane; c < classes; c += 32) top = fmaxf(top, score[row * classes + c]);
  for (int d = 16; d > 0; d >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, d));
  float total = 0.0f;
  for (int c = lane; c < classes; c += 32) total += expf(score[row * classes + c] - top);
  for (int d = 16; d > 0; d >>= 1) total += __shfl_xor_sync(0xffffffffu, total, d);
  for (int c = lane; c < classes; c += 32) out[row * classes + c] = score[row * classes + c] - top - logf(total);
}
