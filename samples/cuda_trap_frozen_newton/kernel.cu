// Newton's method for v * v = c, from a guess that may be the root already or have no slope at all.
__global__ void frozen_newton(double *y, const double *guess, const double *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double v = guess[i];
  for (int it = 0; it < 20; ++it) {
    double slope = 2.0 * v;
    if (fabs(slope) < 1e-9) break;
    v -= (v * v - c[i]) / slope;
  }
  y[i] = v;
}
