// The diagonal of a sparse matrix, and a test of each row that ends at the first reason.

__global__ void pivots(const int *row, const int *col, const float *a, float *d, int *at, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  d[i] = 0.0f;
  at[i] = -1;
  for (int p = row[i]; p < row[i + 1]; p++) {
    if (col[p] == i) {
      d[i] = a[p];
      at[i] = p;
      break;
    }
  }
}

__global__ void grade(const float *mark, const float *limit, int *grade, int *why, int n, int levels) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  grade[i] = levels;
  for (int j = 0; j < levels; j++) {
    if (mark[i] < limit[j]) { grade[i] = j; why[i] = 1; return; }
    if (mark[i] == limit[j]) { grade[i] = j; why[i] = 2; return; }
  }
  why[i] = 3;
}
