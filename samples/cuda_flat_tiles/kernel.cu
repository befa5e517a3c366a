// Tiles that lie flat in shared memory, tiles of blocks that overlap, and a rim with its corners.

#define SIDE 8

__global__ void laplace(const float *u, float *v, int ny, int nx) {
  extern __shared__ float s[];
  int w = blockDim.x + 2;
  int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  s[ly * w + lx] = x < nx && y < ny ? u[y * nx + x] : 0.0f;
  if (threadIdx.x == 0) s[ly * w] = x > 0 && x - 1 < nx && y < ny ? u[y * nx + x - 1] : 0.0f;
  if (threadIdx.x == blockDim.x - 1) s[ly * w + lx + 1] = x + 1 < nx && y < ny ? u[y * nx + x + 1] : 0.0f;
  if (threadIdx.y == 0) s[lx] = y > 0 && y - 1 < ny && x < nx ? u[(y - 1) * nx + x] : 0.0f;
  if (threadIdx.y == blockDim.y - 1) s[(ly + 1) * w + lx] = y + 1 < ny && x < nx ? u[(y + 1) * nx + x] : 0.0f;
  __syncthreads();
  if (x < nx && y < ny)
    v[y * nx + x] = s[ly * w + lx - 1] + s[ly * w + lx + 1] + s[(ly - 1) * w + lx] + s[(ly + 1) * w + lx]
                    - 4.0f * s[ly * w + lx];
}

__global__ void wide_cross(const float *u, float *v, int ny, int nx) {
  const int pitch = SIDE + 4;
  __shared__ float s[pitch * pitch];
  for (int k = threadIdx.y * SIDE + threadIdx.x; k < pitch * pitch; k += SIDE * SIDE) {
    int y = blockIdx.y * SIDE + k / pitch - 2, x = blockIdx.x * SIDE + k % pitch - 2;
    s[k] = y >= 0 && y < ny && x >= 0 && x < nx ? u[y * nx + x] : 0.0f;
  }
  __syncthreads();
  int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
  int at = (threadIdx.y + 2) * pitch + threadIdx.x + 2;
  if (x < nx && y < ny) v[y * nx + x] = s[at - 2] + s[at + 2] + s[at - 2 * pitch] + s[at + 2 * pitch] - 4.0f * s[at];
}

__global__ void gradient(const float *u, float *v, int ny, int nx) {
  __shared__ float s[SIDE + 1][SIDE + 1];
  int x = blockIdx.x * SIDE + threadIdx.x - 1, y = blockIdx.y * SIDE + threadIdx.y - 1;
  s[threadIdx.y][threadIdx.x] = u[min(max(y, 0), ny - 1) * nx + min(max(x, 0), nx - 1)];
  __syncthreads();
  if (threadIdx.x >= 1 && threadIdx.x < SIDE + 1 && threadIdx.y >= 1 && threadIdx.y < SIDE + 1 && x < nx && y < ny) {
    float across = s[threadIdx.y][threadIdx.x] - s[threadIdx.y][threadIdx.x - 1];
    float down = s[threadIdx.y][threadIdx.x] - s[threadIdx.y - 1][threadIdx.x];
    v[y * nx + x] = across * across + down * down;
  }
}

__global__ void blur(const float *u, float *v, int ny, int nx) {
  __shared__ float s[SIDE + 2][SIDE + 2];
  int i = threadIdx.x + 1, j = threadIdx.y + 1;
  int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
  bool left = i == 1, right = i == SIDE, top = j == 1, bottom = j == SIDE;
  s[j][i] = x < nx && y < ny ? u[y * nx + x] : 0.0f;
  if (left) s[j][0] = x > 0 && y < ny ? u[y * nx + x - 1] : 0.0f;
  if (right) s[j][SIDE + 1] = x + 1 < nx && y < ny ? u[y * nx + x + 1] : 0.0f;
  if (top) s[0][i] = y > 0 && x < nx ? u[(y - 1) * nx + x] : 0.0f;
  if (bottom) s[SIDE + 1][i] = y + 1 < ny && x < nx ? u[(y + 1) * nx + x] : 0.0f;
  if (left && top) s[0][0] = x > 0 && y > 0 ? u[(y - 1) * nx + x - 1] : 0.0f;
  if (right && top) s[0][SIDE + 1] = x + 1 < nx && y > 0 ? u[(y - 1) * nx + x + 1] : 0.0f;
  if (left && bottom) s[SIDE + 1][0] = x > 0 && y + 1 < ny ? u[(y + 1) * nx + x - 1] : 0.0f;
  if (right && bottom) s[SIDE + 1][SIDE + 1] = x + 1 < nx && y + 1 < ny ? u[(y + 1) * nx + x + 1] : 0.0f;
  __syncthreads();
  if (x >= nx || y >= ny) return;
  float around = 0.0f;
  for (int b = -1; b <= 1; b++)
    for (int a = -1; a <= 1; a++) around += s[j + b][i + a];
  v[y * nx + x] = around / 9.0f;
}
