// Cosine similarity of rows; a row of zeros is like nothing.
__global__ void correlation(double *r, const double *a, const double *b, int rows, int n) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= rows) return;
  double ab = 0.0, aa = 0.0, bb = 0.0;
  for (int i = 0; i < n; ++i) {
    ab += a[k * n + i] * b[k * n + i];
    aa += a[k * n + i] * a[k * n + i];
    bb += b[k * n + i] * b[k * n + i];
  }
  double norm = sqrt(aa * bb);
  r[k] = norm > 1e-3 ? ab / norm : 0.0;
}
