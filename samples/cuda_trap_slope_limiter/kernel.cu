// van Albada's limiter: no slope at extrema and in constant states, where it would be 0 / 0.
__global__ void slope_limiter(double *y, const double *u, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 1 || i >= n - 1) return;
  double dl = u[i] - u[i - 1], dr = u[i + 1] - u[i];
  double slope = 0.0;
  if (dl * dr > 0.0) slope = dl * dr * (dl + dr) / (dl * dl + dr * dr);
  y[i] = u[i] + 0.5 * slope;
}
