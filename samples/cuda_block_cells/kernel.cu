// What thread 0 leaves in numbered cells of shared memory for its block.

// Each row over its length, with the mean and the scale in two cells.
__global__ void whiten(const float *x, float *y, int cols, float eps) {
  __shared__ float stats[2];
  __shared__ float part[2][128];
  int t = threadIdx.x;
  const float *row = x + blockIdx.x * cols;
  float s = 0.0f, q = 0.0f;
  for (int c = t; c < cols; c += blockDim.x) {
    s += row[c];
    q += row[c] * row[c];
  }
  part[0][t] = s;
  part[1][t] = q;
  __syncthreads();
  for (int w = blockDim.x / 2; w > 0; w >>= 1) {
    if (t < w) {
      part[0][t] += part[0][t + w];
      part[1][t] += part[1][t + w];
    }
    __syncthreads();
  }
  if (t == 0) {
    float m = part[0][0] / cols;
    stats[0] = m;
    stats[1] = rsqrtf(part[1][0] / cols - m * m + eps);
  }
  __syncthreads();
  for (int c = t; c < cols; c += blockDim.x)
    y[blockIdx.x * cols + c] = (row[c] - stats[0]) * stats[1];
}

// A block turned round, less what its first thread holds.
__global__ void mirrored(const float *x, float *y) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * blockDim.x + t];
  __syncthreads();
  y[blockIdx.x * blockDim.x + t] = s[blockDim.x - 1 - t] - 0.5f * s[0];
}

// How many of a block are above the limit, and the largest of them.
__global__ void above(const float *x, int *count, float *largest, float limit, int n) {
  __shared__ int tally[2];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) {
    tally[0] = 0;
    tally[1] = -1;
  }
  __syncthreads();
  if (i < n && x[i] > limit) {
    atomicAdd(&tally[0], 1);
    atomicMax(&tally[1], i);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    count[blockIdx.x] = tally[0];
    largest[blockIdx.x] = tally[1] < 0 ? limit : x[tally[1]];
  }
}
