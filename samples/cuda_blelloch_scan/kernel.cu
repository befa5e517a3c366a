// running sums within a block without the element itself: up-sweep and down-sweep of a balanced tree (Blelloch)
#define THREADS 64

__global__ void exclusive_scan(const float *in, float *out) {
  __shared__ float tree[2 * THREADS];
  int t = threadIdx.x;
  int first = 2 * THREADS * blockIdx.x;
  tree[2 * t] = in[first + 2 * t];
  tree[2 * t + 1] = in[first + 2 * t + 1];
  int gap = 1;
  for (int d = THREADS; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) tree[gap * (2 * t + 2) - 1] += tree[gap * (2 * t + 1) - 1];
    gap *= 2;
  }
  if (t == 0) tree[2 * THREADS - 1] = 0.0f;
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
  out[first + 2 * t] = tree[2 * t];
  out[first + 2 * t + 1] = tree[2 * t + 1];
}
