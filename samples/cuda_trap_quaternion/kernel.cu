// Unit quaternions; the zero quaternion becomes the identity.
__global__ void quaternion(double *q, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double w = q[4 * i], x = q[4 * i + 1], y = q[4 * i + 2], z = q[4 * i + 3];
  double norm = w * w + x * x + y * y + z * z;
  if (norm > 1e-12) {
    double inv = rsqrt(norm);
    q[4 * i] = w * inv;
    q[4 * i + 1] = x * inv;
    q[4 * i + 2] = y * inv;
    q[4 * i + 3] = z * inv;
  } else {
    q[4 * i] = 1.0;
    q[4 * i + 1] = 0.0;
    q[4 * i + 2] = 0.0;
    q[4 * i + 3] = 0.0;
  }
}
