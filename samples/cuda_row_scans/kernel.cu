// Cumulative distributions of ragged rows, forwards and backwards, and the row's total.

__global__ void row_cdf(const int *ptr, const float *w, float *cdf, float *rest, float *total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = 0.0f;
  for (int k = ptr[i]; k < ptr[i + 1]; ++k) {
    s += w[k] * w[k];
    cdf[k] = s;
  }
  total[i] = s;
  float r = 0.5f;
  for (int k = ptr[i + 1] - 1; k >= ptr[i]; --k) {
    rest[k] = r;
    r += w[k];
  }
}
