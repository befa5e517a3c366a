// The site that is nearest to each point, and its squared distance.
__global__ void nearest_site(const float2 *p, const float2 *site, int *which, float *distance, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int best = 0;
  for (int k = 1; k < m; k++) {
    float dx = site[k].x - p[i].x, dy = site[k].y - p[i].y;
    float bx = site[best].x - p[i].x, by = site[best].y - p[i].y;
    if (dx * dx + dy * dy < bx * bx + by * by) best = k;
  }
  float x = site[best].x - p[i].x, y = site[best].y - p[i].y;
  which[i] = best;
  distance[i] = x * x + y * y;
}

// The heaviest entry of each row among those that are open, from the last to the first; none: what was there.
__global__ void heaviest_open(const float *w, const int *open, int *which, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int best = which[i];
  for (int k = m - 1; k >= 0; --k)
    if (open[k] && w[i * m + k] > w[i * m + best]) best = k;
  which[i] = best;
}
