// One block for each row of a sparse matrix or graph: its threads take the row's entries in strides.

#define THREADS 64

__device__ float block_sum(float *s, float v) {
  int t = threadIdx.x;
  s[t] = v;
  __syncthreads();
  for (int o = blockDim.x / 2; o > 0; o >>= 1) {
    if (t < o) s[t] += s[t + o];
    __syncthreads();
  }
  float total = s[0];
  __syncthreads();
  return total;
}

// the weights of each node's edges become probabilities
__global__ void edge_softmax(const int *ptr, const float *score, float *weight) {
  __shared__ float s[THREADS];
  int node = blockIdx.x, t = threadIdx.x;
  int first = ptr[node], last = ptr[node + 1];
  float sum = 0.0f;
  for (int k = first + t; k < last; k += blockDim.x) sum += expf(score[k]);
  sum = block_sum(s, sum);
  for (int k = first + t; k < last; k += blockDim.x) weight[k] = expf(score[k]) / sum;
}

// y = A x, as many blocks as there happen to be
__global__ void spmv(const int *ptr, const int *col, const float *a, const float *x, float *y, int rows) {
  __shared__ float s[THREADS];
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    float sum = 0.0f;
    for (int k = ptr[row] + threadIdx.x; k < ptr[row + 1]; k += blockDim.x) sum += a[k] * x[col[k]];
    sum = block_sum(s, sum);
    if (threadIdx.x == 0) y[row] = sum;
    __syncthreads();
  }
}
