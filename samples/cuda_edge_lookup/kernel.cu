// Searches whose range differs from thread to thread, and an iteration that tests last and has two exits.

__global__ void has_edge(const int *row, const int *col, const int *from, const int *to, int *found, int m) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= m) return;
  int lo = row[from[e]], hi = row[from[e] + 1] - 1;
  int there = 0;
  while (lo <= hi) {
    int mid = (lo + hi) / 2;
    if (col[mid] == to[e]) {
      there = 1;
      break;
    }
    if (col[mid] < to[e])
      lo = mid + 1;
    else
      hi = mid - 1;
  }
  found[e] = there;
}

__global__ void whole_root(const int *x, int *root, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int lo = 0, hi = x[i] / 2 + 1;
  while (lo < hi) {
    int mid = lo + (hi - lo + 1) / 2;
    if (mid <= x[i] / mid)
      lo = mid;
    else
      hi = mid - 1;
  }
  root[i] = lo;
}

__global__ void cube_root(const float *a, float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float y = 1.0f;
  int it = 0;
  do {
    float step = (y * y * y - a[i]) / (3.0f * y * y);
    y -= step;
    if (fabsf(step) < 1e-6f) break;
    it++;
  } while (it < 20);
  x[i] = y;
}
