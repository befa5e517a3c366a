// A product in which each thread keeps a tile of 4 x 2 results in registers: blocks of 32 threads, numbered in one line,
// compute tiles of 16 x 16. They load the tiles of the factors in rounds, and take one row and one column of these into
// registers for each step of the sum.
constexpr int TILE = 16, DEPTH = 4, DOWN = 4, ACROSS = 2, THREADS = TILE * TILE / (DOWN * ACROSS);

__global__ void product_in_registers(int rows, int cols, int depth, float alpha, const float *a, const float *b,
                                     float beta, float *c) {
  __shared__ float left[TILE * DEPTH];
  __shared__ float right[DEPTH * TILE];
  const int band = threadIdx.x / (TILE / ACROSS), strip = threadIdx.x % (TILE / ACROSS);
  a += blockIdx.y * TILE * depth;
  b += blockIdx.x * TILE;
  c += blockIdx.y * TILE * cols + blockIdx.x * TILE;

  float sums[DOWN * ACROSS] = {0.0f};
  float column[DOWN], row[ACROSS];
  for (int at = 0; at < depth; at += DEPTH) {
    for (int r = 0; r < TILE; r += THREADS / DEPTH)
      left[(threadIdx.x / DEPTH + r) * DEPTH + threadIdx.x % DEPTH] =
          a[(threadIdx.x / DEPTH + r) * depth + threadIdx.x % DEPTH];
    for (int r = 0; r < DEPTH; r += THREADS / TILE)
      right[(threadIdx.x / TILE + r) * TILE + threadIdx.x % TILE] =
          b[(threadIdx.x / TILE + r) * cols + threadIdx.x % TILE];
    __syncthreads();
    a += DEPTH;
    b += DEPTH * cols;
    for (int d = 0; d < DEPTH; ++d) {
      for (int i = 0; i < DOWN; ++i) column[i] = left[(band * DOWN + i) * DEPTH + d];
      for (int j = 0; j < ACROSS; ++j) row[j] = right[d * TILE + strip * ACROSS + j];
      for (int i = 0; i < DOWN; ++i)
        for (int j = 0; j < ACROSS; ++j) sums[i * ACROSS + j] += column[i] * row[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < DOWN; ++i)
    for (int j = 0; j < ACROSS; ++j) {
      const int at = (band * DOWN + i) * cols + strip * ACROSS + j;
      c[at] = alpha * sums[i * ACROSS + j] + beta * c[at];
    }
}

void multiply(int rows, int cols, int depth, float alpha, const float *a, const float *b, float beta, float *c) {
  const dim3 tiles(cols / TILE, rows / TILE);
  product_in_registers<<<tiles, THREADS>>>(rows, cols, depth, alpha, a, b, beta, c);
}
