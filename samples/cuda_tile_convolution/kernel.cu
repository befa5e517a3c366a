#define TILE 16
#define RADIUS 2

// A 5 x 5 filter: the block's threads fill a tile with its rim together, each as many cells as it takes.
__global__ void tile_convolution(const float *image, const float *filter, float *out, int width, int height) {
  __shared__ float tile[TILE + 2 * RADIUS][TILE + 2 * RADIUS];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  for (int r = threadIdx.y; r < TILE + 2 * RADIUS; r += TILE) {
    for (int c = threadIdx.x; c < TILE + 2 * RADIUS; c += TILE) {
      int gx = blockIdx.x * TILE + c - RADIUS;
      int gy = blockIdx.y * TILE + r - RADIUS;
      tile[r][c] = (gx >= 0 && gx < width && gy >= 0 && gy < height) ? image[gy * width + gx] : 0.0f;
    }
  }
  __syncthreads();
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int i = 0; i <= 2 * RADIUS; i++)
    for (int j = 0; j <= 2 * RADIUS; j++)
      sum += filter[i * (2 * RADIUS + 1) + j] * tile[threadIdx.y + i][threadIdx.x + j];
  out[y * width + x] = sum;
}
