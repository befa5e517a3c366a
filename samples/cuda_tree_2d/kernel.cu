// Reductions of blocks with two axes: by the flat number of the thread, down the columns and along a row, by rows.
__global__ void energy_of_blocks(const float *field, float *energy, int width, int height) {
  extern __shared__ float part[];
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int me = threadIdx.y * blockDim.x + threadIdx.x;
  float v = x < width && y < height ? field[y * width + x] : 0.0f;
  part[me] = v * v;
  __syncthreads();
  for (int half = blockDim.x * blockDim.y / 2; half > 0; half >>= 1) {
    if (me < half) part[me] += part[me + half];
    __syncthreads();
  }
  if (me == 0) energy[blockIdx.y * gridDim.x + blockIdx.x] = part[0];
}

#define SIDE 8
__global__ void peak_of_tiles(const float *field, float *peak, int width, int height) {
  __shared__ float best[SIDE][SIDE];
  int c = threadIdx.x, r = threadIdx.y;
  int x = blockIdx.x * SIDE + c, y = blockIdx.y * SIDE + r;
  best[r][c] = x < width && y < height ? field[y * width + x] : -INFINITY;
  __syncthreads();
  for (int half = SIDE / 2; half > 0; half /= 2) {
    if (r < half) best[r][c] = fmaxf(best[r][c], best[r + half][c]);
    __syncthreads();
  }
  for (int half = SIDE / 2; half > 0; half /= 2) {
    if (r == 0 && c < half) best[0][c] = fmaxf(best[0][c], best[0][c + half]);
    __syncthreads();
  }
  if (r == 0 && c == 0) peak[blockIdx.y * gridDim.x + blockIdx.x] = best[0][0];
}
