// Fluxes through both sides of a cell: what one cell computes with the next, that one computes with it.

__device__ float upwind(float left, float right, float speed) {
  float fastest = fmaxf(fabsf(left), fabsf(right)) + speed;
  return 0.25f * (left * left + right * right) - 0.5f * fastest * (right - left);
}

// one step of a conservation law: a device function for either side
__global__ void advance(const float *u, float *next, float ratio, float speed, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 1 && i < n - 1)
    next[i] = u[i] - ratio * (upwind(u[i], u[i + 1], speed) - upwind(u[i - 1], u[i], speed));
}

// diffusion that stops at edges: each difference is taken from the cell outwards
__global__ void smooth(const float *image, float *out, float edge, float rate, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  float here = image[y * w + x];
  float up = image[(y - 1) * w + x] - here, down = image[(y + 1) * w + x] - here;
  float left = image[y * w + x - 1] - here, right = image[y * w + x + 1] - here;
  float k = edge * edge;
  out[y * w + x] = here + rate * (up * expf(-up * up / k) + down * expf(-down * down / k)
                                  + left * expf(-left * left / k) + right * expf(-right * right / k));
}
