// each block sums two elements a thread: a ladder of halves in shared memory, the last warp by shuffles
template <int SIZE>
__global__ void reduce(const float *x, float *total, int n) {
  __shared__ float s[SIZE];
  int t = threadIdx.x;
  int i = blockIdx.x * (2 * SIZE) + t;
  float sum = 0.0f;
  if (i < n) sum = x[i];
  if (i + SIZE < n) sum += x[i + SIZE];
  s[t] = sum;
  __syncthreads();
  if (SIZE >= 512) {
    if (t < 256) s[t] = sum = sum + s[t + 256];
    __syncthreads();
  }
  if (SIZE >= 256) {
    if (t < 128) s[t] = sum = sum + s[t + 128];
    __syncthreads();
  }
  if (SIZE >= 128) {
    if (t < 64) s[t] = sum = sum + s[t + 64];
    __syncthreads();
  }
  if (t < 32) {
    if (SIZE >= 64) sum += s[t + 32];
    for (int d = warpSize / 2; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
  }
  if (t == 0) total[blockIdx.x] = sum;
}

template __global__ void reduce<128>(const float *, float *, int);
