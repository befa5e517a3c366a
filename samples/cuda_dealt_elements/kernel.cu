// Threads with several elements each: a block's width apart, side by side, or one chunk for each thread.
#define COARSE 4

__global__ void brighten(const float *x, float *y, int n) {
  int start = blockIdx.x * blockDim.x * COARSE + threadIdx.x;
  for (int c = 0; c < COARSE; c++) {
    int i = start + c * blockDim.x;
    if (i < n) y[i] = sqrtf(x[i] * x[i] + 1.0f);
  }
}

__global__ void quads(const float *x, float *y, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 4; k++)
    if (4 * t + k < n) y[4 * t + k] = x[4 * t + k] / (2.0f + x[n - 1 - 4 * t - k]);
}

__global__ void chunks(const float *x, float *y, int n, int chunk) {
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * chunk;
  int last = min(first + chunk, n);
  for (int i = first; i < last; i++) y[i] = expf(-x[i] * x[i]);
}

__global__ void even_parts(const float *x, float *y, int n) {
  int threads = gridDim.x * blockDim.x;
  int part = (n + threads - 1) / threads;
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * part;
  int last = first + part < n ? first + part : n;
  for (int i = first; i < last; i++) y[i] = 2.0f * x[i];
}

__global__ void count_classes(const int *x, int *count, int n) {
  int start = blockIdx.x * 128 * COARSE + threadIdx.x;
  for (int c = 0; c < COARSE; c++) {
    int i = start + c * 128;
    if (i < n) atomicAdd(&count[x[i] & 7], 1);
  }
}
