// the column of the largest element of each row, by one warp for each row; of equal ones the first
__global__ void best_columns(const float *score, int *column, int classes) {
  int row = blockIdx.x;
  int lane = threadIdx.x;
  float best = -INFINITY;
  int at = 0;
  for (int c = lane; c < classes; c += 32) {
    float s = score[row * classes + c];
    if (s > best) {
      best = s;
      at = c;
    }
  }
  for (int step = 16; step > 0; step >>= 1) {
    float other = __shfl_down_sync(0xffffffff, best, step);
    int place = __shfl_down_sync(0xffffffff, at, step);
    if (other > best || (other == best && place < at)) {
      best = other;
      at = place;
    }
  }
  if (lane == 0) column[row] = at;
}

// the least of the elements of each warp and its lane; of equal ones the exchange decides which
__global__ void least_lanes(const float *x, float *least, int *lane_of, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float low = i < n ? x[i] : INFINITY;
  int at = threadIdx.x % 32;
  for (int step = 16; step > 0; step /= 2) {
    float other = __shfl_xor_sync(0xffffffff, low, step);
    int place = __shfl_xor_sync(0xffffffff, at, step);
    at = other < low ? place : at;
    low = fminf(low, other);
  }
  if (threadIdx.x % 32 == 0) {
    least[i / 32] = low;
    lane_of[i / 32] = at;
  }
}

// the first of the largest elements of each block, with doubling steps
__global__ void first_of_blocks(const float *x, int *place) {
  extern __shared__ float value[];
  __shared__ int index[1024];
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + t;
  value[t] = x[i];
  index[t] = i;
  __syncthreads();
  for (int step = 1; step < blockDim.x; step *= 2) {
    if (t % (2 * step) == 0) {
      if (value[t + step] > value[t]) {
        value[t] = value[t + step];
        index[t] = index[t + step];
      }
    }
    __syncthreads();
  }
  if (t == 0) place[blockIdx.x] = index[0];
}
