// The median of five and a dot product in four partial sums: small arrays that a compiler keeps in registers.

__global__ void median_cross(const float *img, float *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  float v[5];
  int k = 0;
  for (int d = -1; d <= 1; d++) v[k++] = img[(y + d) * w + x];
  v[k++] = img[y * w + x - 1];
  v[k++] = img[y * w + x + 1];
  for (int i = 0; i < 3; i++)
    for (int j = i + 1; j < 5; j++)
      if (v[j] < v[i]) {
        float t = v[i];
        v[i] = v[j];
        v[j] = t;
      }
  out[y * w + x] = v[2];
}

__global__ void dot_rows(const float *a, const float *b, float *out, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float acc[4] = {0.0f};
  for (int k = 0; k + 3 < n; k += 4)
    for (int u = 0; u < 4; u++) acc[u] += a[r * n + k + u] * b[k + u];
  out[r] = acc[0] + acc[1] + acc[2] + acc[3];
}

__device__ void slope(const float *y, float *dy, float mu) {
  dy[0] = y[1];
  dy[1] = mu * (1.0f - y[0] * y[0]) * y[1] - y[0];
}

__global__ void van_der_pol(const float *start, float *end, float mu, float h, int steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float y[2], k1[2], k2[2], t[2];
  for (int c = 0; c < 2; c++) y[c] = start[2 * i + c];
  for (int s = 0; s < steps; s++) {
    slope(y, k1, mu);
    for (int c = 0; c < 2; c++) t[c] = y[c] + h * k1[c];
    slope(t, k2, mu);
    for (int c = 0; c < 2; c++) y[c] += 0.5f * h * (k1[c] + k2[c]);
  }
  for (int c = 0; c < 2; c++) end[2 * i + c] = y[c];
}
