// scans of blocks that also hand out the block's total, and one between two buffers
#define THREADS 64

__global__ void scan_and_total(const float *in, float *out, float *totals) {
  __shared__ float tree[2 * THREADS];
  int t = threadIdx.x;
  int first = 2 * THREADS * blockIdx.x;
  tree[t] = in[first + t];
  tree[t + THREADS] = in[first + t + THREADS];
  int gap = 1;
  for (int d = THREADS; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) tree[gap * (2 * t + 2) - 1] += tree[gap * (2 * t + 1) - 1];
    gap *= 2;
  }
  if (t == 0) {
    totals[blockIdx.x] = tree[2 * THREADS - 1];
    tree[2 * THREADS - 1] = 0.0f;
  }
  for (int d = 1; d < 2 * THREADS; d *= 2) {
    gap >>= 1;
    __syncthreads();
    if (t < d) {
      int left = gap * (2 * t + 1) - 1;
      int right = gap * (2 * t + 2) - 1;
      float v = tree[left];
      tree[left] = tree[right];
      tree[right] += v;
    }
  }
  __syncthreads();
  out[first + t] = tree[t];
  out[first + t + THREADS] = tree[t + THREADS];
}

// running sums between two halves of one buffer
__global__ void two_buffers(const float *in, float *out) {
  __shared__ float buffer[2 * THREADS];
  int t = threadIdx.x;
  int i = blockIdx.x * THREADS + t;
  int to = 0, from = 1;
  buffer[t] = in[i];
  __syncthreads();
  for (int offset = 1; offset < THREADS; offset *= 2) {
    to = 1 - to;
    from = 1 - to;
    if (t >= offset)
      buffer[to * THREADS + t] = buffer[from * THREADS + t] + buffer[from * THREADS + t - offset];
    else
      buffer[to * THREADS + t] = buffer[from * THREADS + t];
    __syncthreads();
  }
  out[i] = buffer[to * THREADS + t];
}
