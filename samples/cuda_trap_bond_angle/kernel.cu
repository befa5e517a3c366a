// Angle potential of bonded triples; straight and collapsed ones have no angle force.
__global__ void bond_angle(double *e, const double *x, const int *a, const int *b, const int *c, int m) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= m) return;
  double ux = x[2 * a[t]] - x[2 * b[t]], uy = x[2 * a[t] + 1] - x[2 * b[t] + 1];
  double vx = x[2 * c[t]] - x[2 * b[t]], vy = x[2 * c[t] + 1] - x[2 * b[t] + 1];
  double uu = ux * ux + uy * uy, vv = vx * vx + vy * vy;
  if (uu < 1e-12 || vv < 1e-12) {
    e[t] = 0.0;
    return;
  }
  double cs = (ux * vx + uy * vy) / sqrt(uu * vv);
  if (cs > 0.9999) cs = 0.9999;
  if (cs < -0.9999) cs = -0.9999;
  e[t] = acos(cs);
}
