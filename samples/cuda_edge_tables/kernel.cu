// Edges by two masks of numbers that the kernel holds itself.
__global__ void edge_strength(const float *image, float *strength, int width, int height) {
  const float across[3][3] = {{-3.0f, 0.0f, 3.0f}, {-10.0f, 0.0f, 10.0f}, {-3.0f, 0.0f, 3.0f}};
  const float down[9] = {-3.0f, -10.0f, -3.0f, 0.0f, 0.0f, 0.0f, 3.0f, 10.0f, 3.0f};
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  float sx = 0.0f, sy = 0.0f;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      float pixel = image[(y + i - 1) * width + x + j - 1];
      sx += across[i][j] * pixel;
      sy += down[3 * i + j] * pixel;
    }
  }
  strength[y * width + x] = sqrtf(sx * sx + sy * sy + 1e-6f);
}
