// Tiles with a rim, filled in the ways that one meets: by the threads at the edges, by all over flat cells, by larger
// blocks that overlap, and anew for each plane.

#define TILE 8

__global__ void smooth(const float *u, float *v, float rate, int ny, int nx) {
  __shared__ float s[TILE + 2][TILE + 2];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  int col = threadIdx.x + 1, row = threadIdx.y + 1;
  if (x < nx && y < ny) {
    s[row][col] = u[y * nx + x];
    if (threadIdx.x == 0 && x > 0) s[row][0] = u[y * nx + x - 1];
    if (threadIdx.x == TILE - 1 && x < nx - 1) s[row][TILE + 1] = u[y * nx + x + 1];
    if (threadIdx.y == 0 && y > 0) s[0][col] = u[(y - 1) * nx + x];
    if (threadIdx.y == TILE - 1 && y < ny - 1) s[TILE + 1][col] = u[(y + 1) * nx + x];
  }
  __syncthreads();
  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1)
    v[y * nx + x] = s[row][col] + rate * (s[row][col - 1] + s[row][col + 1] + s[row - 1][col] + s[row + 1][col]
                                          - 4 * s[row][col]);
}

__global__ void sharpen(const float *u, float *v, int ny, int nx) {
  const int side = TILE + 2;
  __shared__ float s[side][side];
  for (int k = threadIdx.y * TILE + threadIdx.x; k < side * side; k += TILE * TILE) {
    int y = blockIdx.y * TILE + k / side - 1, x = blockIdx.x * TILE + k % side - 1;
    s[k / side][k % side] = y >= 0 && y < ny && x >= 0 && x < nx ? u[y * nx + x] : 0.0f;
  }
  __syncthreads();
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x >= nx || y >= ny) return;
  float around = 0.0f;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) around += s[threadIdx.y + i][threadIdx.x + j];
  v[y * nx + x] = 10 * s[threadIdx.y + 1][threadIdx.x + 1] - around;
}

__global__ void slope(const float *u, float *v, int ny, int nx) {
  __shared__ float s[TILE][TILE];
  int x = blockIdx.x * (TILE - 2) + threadIdx.x, y = blockIdx.y * (TILE - 2) + threadIdx.y;
  if (x < nx && y < ny) s[threadIdx.y][threadIdx.x] = u[y * nx + x];
  __syncthreads();
  bool inside = threadIdx.x > 0 && threadIdx.x < TILE - 1 && threadIdx.y > 0 && threadIdx.y < TILE - 1;
  if (inside && x < nx - 1 && y < ny - 1) {
    float gx = s[threadIdx.y][threadIdx.x + 1] - s[threadIdx.y][threadIdx.x - 1];
    float gy = s[threadIdx.y + 1][threadIdx.x] - s[threadIdx.y - 1][threadIdx.x];
    v[y * nx + x] = gx * gx + gy * gy;
  }
}

__global__ void planes(const float *u, float *v, int nz, int ny, int nx) {
  __shared__ float s[TILE + 2][TILE + 2];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  int col = threadIdx.x + 1, row = threadIdx.y + 1;
  for (int z = 1; z < nz - 1; z++) {
    int at = (z * ny + y) * nx + x;
    if (x < nx && y < ny) {
      s[row][col] = u[at];
      if (threadIdx.x == 0 && x > 0) s[row][0] = u[at - 1];
      if (threadIdx.x == TILE - 1 && x < nx - 1) s[row][TILE + 1] = u[at + 1];
      if (threadIdx.y == 0 && y > 0) s[0][col] = u[at - nx];
      if (threadIdx.y == TILE - 1 && y < ny - 1) s[TILE + 1][col] = u[at + nx];
    }
    __syncthreads();
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1)
      v[at] = s[row][col - 1] + s[row][col + 1] + s[row - 1][col] + s[row + 1][col] + u[at - nx * ny] + u[at + nx * ny]
              - 6 * s[row][col];
    __syncthreads();
  }
}
