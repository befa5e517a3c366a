// A product in which each thread keeps a column of results: blocks of 32 threads compute tiles of 16 x 16 from tiles
// that are 16 x 2 and 2 x 16 wide; threads are numbered in one line and divided by the width of each tile.
constexpr int TILE = 16, DEPTH = 2, EACH = 8;

__global__ void product_by_columns(int rows, int cols, int depth, float alpha, const float *a, const float *b,
                                   float beta, float *c) {
  __shared__ float left[TILE * DEPTH];
  __shared__ float right[DEPTH * TILE];
  const int col = threadIdx.x % TILE, band = threadIdx.x / TILE;
  const int left_row = threadIdx.x / DEPTH, left_col = threadIdx.x % DEPTH;
  a += blockIdx.y * TILE * depth;
  b += blockIdx.x * TILE;
  c += blockIdx.y * TILE * cols + blockIdx.x * TILE;

  float sums[EACH] = {0.0f};
  for (int at = 0; at < depth; at += DEPTH) {
    left[left_row * DEPTH + left_col] = a[left_row * depth + left_col];
    right[band * TILE + col] = b[band * cols + col];
    __syncthreads();
    a += DEPTH;
    b += DEPTH * cols;
    for (int d = 0; d < DEPTH; ++d) {
      const float other = right[d * TILE + col];
      for (int r = 0; r < EACH; ++r)
        sums[r] += left[(band * EACH + r) * DEPTH + d] * other;
    }
    __syncthreads();
  }
  for (int r = 0; r < EACH; ++r)
    c[(band * EACH + r) * cols + col] = alpha * sums[r] + beta * c[(band * EACH + r) * cols + col];
}

void multiply(int rows, int cols, int depth, float alpha, const float *a, const float *b, float beta, float *c) {
  const dim3 tiles(cols / TILE, rows / TILE);
  product_by_columns<<<tiles, TILE * TILE / EACH>>>(rows, cols, depth, alpha, a, b, beta, c);
}
