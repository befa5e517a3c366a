#define EPS 1e-6f

// Newton's gravity of bodies (x, y, z, mass); a body does not pull at itself, nor at one in the same place.
__global__ void gravity(float *ax, float *ay, const float4 *body, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float fx = 0.0f, fy = 0.0f;
  for (int j = 0; j < n; ++j) {
    if (j == i) continue;
    float dx = body[j].x - body[i].x, dy = body[j].y - body[i].y;
    float r2 = dx * dx + dy * dy;
    if (r2 < EPS) continue;
    float inv = rsqrtf(r2);
    float s = body[j].w * inv * inv * inv;
    fx += s * dx;
    fy += s * dy;
  }
  ax[i] = fx;
  ay[i] = fy;
}
