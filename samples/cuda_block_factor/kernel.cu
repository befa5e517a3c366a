// A dense system by one block: elimination in place, then both substitutions, rows dealt to the threads in strides.

__global__ void eliminate(float *A, int n) {
  for (int k = 0; k < n - 1; k++) {
    for (int i = k + 1 + threadIdx.x; i < n; i += blockDim.x) A[i * n + k] /= A[k * n + k];
    __syncthreads();
    for (int i = k + 1 + threadIdx.x; i < n; i += blockDim.x)
      for (int j = k + 1; j < n; j++) A[i * n + j] -= A[i * n + k] * A[k * n + j];
    __syncthreads();
  }
}

__global__ void substitute(const float *A, float *b, int n) {
  for (int k = 0; k < n; k++) {
    for (int i = k + 1 + threadIdx.x; i < n; i += blockDim.x) b[i] -= A[i * n + k] * b[k];
    __syncthreads();
  }
  for (int k = n - 1; k >= 0; k--) {
    if (threadIdx.x == 0) b[k] /= A[k * n + k];
    __syncthreads();
    for (int i = threadIdx.x; i < k; i += blockDim.x) b[i] -= A[i * n + k] * b[k];
    __syncthreads();
  }
}

// one step of the elimination, as a launch for each column has it
__global__ void column(float *A, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > k && i < n) A[i * n + k] /= A[k * n + k];
}
