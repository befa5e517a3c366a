// A warp for each row of a sparse matrix: its lanes take every 32nd entry each, and add up what they have by shuffles.
__global__ void spmv_by_warp(const int *first, const int *column, const double *weight, const double *x, double *y,
                             int rows) {
  int lane = threadIdx.x & 31;
  int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
  if (row < rows) {
    double sum = 0.0;
    for (int k = first[row] + lane; k < first[row + 1]; k += 32) sum += weight[k] * x[column[k]];
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0) y[row] = sum;
  }
}

// The same of dense rows: several warps a block, each with a row of its own that is no multiple of 32 long.
__global__ void normalised_rows(const double *x, const double *gain, const double *bias, double *y, double *centre,
                                int rows, int channels) {
  int lane = threadIdx.x % 32;
  int row = blockIdx.x * (blockDim.x >> 5) + threadIdx.x / 32;
  if (row >= rows) return;
  const double *mine = x + row * channels;
  double sum = 0.0;
  for (int c = lane; c < channels; c += 32) sum += mine[c];
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  double mean = sum / channels;
  double square = 0.0;
  for (int c = lane; c < channels; c += 32) square += (mine[c] - mean) * (mine[c] - mean);
  for (int d = 16; d > 0; d >>= 1) square += __shfl_xor_sync(0xffffffffu, square, d);
  double scale = rsqrt(square / channels + 1e-5);
  if (lane == 0) centre[row] = mean;
  for (int c = lane; c < channels; c += 32) y[row * channels + c] = gain[c] * (mine[c] - mean) * scale + bias[c];
}
