// the mean of each row, a warp a row; the lanes add up in shared memory and run in step
__global__ void row_means(const float *x, float *mean, int rows, int cols) {
  __shared__ volatile float part[256];
  int t = threadIdx.x;
  int lane = t & 31;
  int row = (blockIdx.x * blockDim.x + t) / 32;
  if (row < rows) {
    float sum = 0.0f;
    for (int j = lane; j < cols; j += 32) sum += x[row * cols + j];
    part[t] = sum;
    if (lane < 16) part[t] += part[t + 16];
    if (lane < 8) part[t] += part[t + 8];
    if (lane < 4) part[t] += part[t + 4];
    if (lane < 2) part[t] += part[t + 2];
    if (lane < 1) part[t] += part[t + 1];
    if (lane == 0) mean[row] = part[t] / cols;
  }
}

// a column of weighted inputs for each unit of a layer, summed in a tile by powers of two
#define HEIGHT 16

__global__ void layer(const float *input, const float *weight, float *sums) {
  __shared__ float node[HEIGHT];
  __shared__ float tile[HEIGHT][HEIGHT];
  int tx = threadIdx.x, ty = threadIdx.y;
  if (tx == 0) node[ty] = input[HEIGHT * blockIdx.y + ty];
  __syncthreads();
  tile[ty][tx] = weight[(HEIGHT * blockIdx.y + ty) * HEIGHT + tx];
  __syncthreads();
  tile[ty][tx] *= node[ty];
  __syncthreads();
  for (int i = 1; i <= __log2f(HEIGHT); i++) {
    int power = __powf(2, i);
    if (ty % power == 0) tile[ty][tx] += tile[ty + power / 2][tx];
    __syncthreads();
  }
  if (ty == 0) sums[blockIdx.y * HEIGHT + tx] = tile[0][tx];
}

// rows filtered by seven weights: a block stages its part and a step to the left and to the right of it
#define STEPS 4
#define WIDTH 8
#define LINES 2
#define RADIUS 3

__global__ void filtered_rows(const float *x, const float *weight, float *y, int width, int pitch) {
  __shared__ float tile[LINES][(STEPS + 2) * WIDTH];
  int first = (blockIdx.x * STEPS - 1) * WIDTH + threadIdx.x;
  int line = blockIdx.y * LINES + threadIdx.y;
  x += line * pitch + first;
  y += line * pitch + first;
  for (int i = 1; i < 1 + STEPS; i++) tile[threadIdx.y][threadIdx.x + i * WIDTH] = x[i * WIDTH];
  tile[threadIdx.y][threadIdx.x] = first >= 0 ? x[0] : 0.0f;
  for (int i = 1 + STEPS; i < 2 + STEPS; i++)
    tile[threadIdx.y][threadIdx.x + i * WIDTH] = width - first > i * WIDTH ? x[i * WIDTH] : 0.0f;
  __syncthreads();
  for (int i = 1; i < 1 + STEPS; i++) {
    float sum = 0.0f;
    for (int j = -RADIUS; j <= RADIUS; j++)
      sum += weight[RADIUS - j] * tile[threadIdx.y][threadIdx.x + i * WIDTH + j];
    y[i * WIDTH] = sum;
  }
}
