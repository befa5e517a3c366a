// Stencils that treat the rim of their domain in the kernel itself: kept, one-sided, fixed, obstacles, around a torus.

__global__ void diffuse(const float *u, float *next, int nx, int ny, float c) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  int at = y * nx + x;
  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1)
    next[at] = u[at] + c * (u[at - 1] + u[at + 1] + u[at - nx] + u[at + nx] - 4.0f * u[at]);
  else
    next[at] = u[at];
}

__global__ void slope(const float *u, float *du, int n, float h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float d;
  if (i == 0)
    d = (u[1] - u[0]) / h;
  else if (i == n - 1)
    d = (u[n - 1] - u[n - 2]) / h;
  else
    d = (u[i + 1] - u[i - 1]) / (2.0f * h);
  du[i] = d;
}

__global__ void frame(float *u, int nx, int ny, float hot) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < nx && y < ny) {
    if (x == 0 || x == nx - 1 || y == 0 || y == ny - 1) u[y * nx + x] = hot * y;
  }
}

__global__ void around(const float *u, const int *wall, float *next, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (i == 0 || i == n - 1 || wall[i])
    next[i] = u[i];
  else
    next[i] = 0.5f * (u[i - 1] + u[i + 1]);
}

__global__ void torus(const float *u, float *next, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  int west = x == 0 ? nx - 1 : x - 1, east = x == nx - 1 ? 0 : x + 1;
  int north = y > 0 ? y - 1 : ny - 1, south = y < ny - 1 ? y + 1 : 0;
  next[y * nx + x] = 0.25f * (u[y * nx + west] + u[y * nx + east] + u[north * nx + x] + u[south * nx + x]);
}
