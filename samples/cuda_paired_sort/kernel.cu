// Blocks of CELLS sorted by a bitonic network; each thread holds two cells, half of the block apart.
#define CELLS 8

__global__ void sort_blocks(float *sorted, const float *x) {
  __shared__ float s[CELLS];
  int t = threadIdx.x, first = blockIdx.x * CELLS;
  s[t] = x[first + t];
  s[t + CELLS / 2] = x[first + t + CELLS / 2];
  for (int size = 2; size <= CELLS; size <<= 1) {
    bool down = (t & (size / 2)) != 0;
    for (int stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      int at = 2 * t - (t & (stride - 1));
      float a = s[at], b = s[at + stride];
      if ((a > b) != down) {
        s[at] = b;
        s[at + stride] = a;
      }
    }
  }
  __syncthreads();
  sorted[first + t] = s[t];
  sorted[first + t + CELLS / 2] = s[t + CELLS / 2];
}
