#define BLOCK 16

// the least element of each block and where it is; of equal ones the tree decides which
__global__ void block_argmin(const float *x, float *least, int *where, int n) {
  __shared__ float value[BLOCK];
  __shared__ int index[BLOCK];
  int t = threadIdx.x;
  int i = blockIdx.x * BLOCK + t;
  value[t] = i < n ? x[i] : 3.4e38f;
  index[t] = i;
  __syncthreads();
  for (int w = BLOCK / 2; w > 0; w >>= 1) {
    if (t < w && value[t + w] < value[t]) {
      value[t] = value[t + w];
      index[t] = index[t + w];
    }
    __syncthreads();
  }
  if (t == 0) {
    least[blockIdx.x] = value[0];
    where[blockIdx.x] = index[0];
  }
}
