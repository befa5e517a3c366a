// Wave speeds of shallow water: a dry cell has neither a velocity nor a speed of sound.
__global__ void dry_cells(double *flux, const double *h, const double *hu, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n - 1) return;
  double hl = h[i], hr = h[i + 1];
  double ul = hl > 1e-6 ? hu[i] / hl : 0.0, ur = hr > 1e-6 ? hu[i + 1] / hr : 0.0;
  double cl = hl > 1e-6 ? sqrt(hl) : 0.0, cr = hr > 1e-6 ? sqrt(hr) : 0.0;
  double sl = fmin(ul - cl, ur - cr), sr = fmax(ul + cl, ur + cr);
  flux[i] = sr - sl > 1e-6 ? (sr * hu[i] - sl * hu[i + 1] + sl * sr * (hr - hl)) / (sr - sl) : 0.0;
}
