// A block for each row, whose threads put their partial sums and extrema together with CUB.
#include <cub/cub.cuh>

constexpr int THREADS = 64;

// rows of mean 0 and variance 1, scaled by gain
__global__ void layer_norm(const float *x, const float *gain, float *y, int cols, float eps) {
  typedef cub::BlockReduce<float, THREADS> BlockReduce;
  __shared__ typename BlockReduce::TempStorage for_sum, for_squares;
  __shared__ float mean, scale;
  const int row = blockIdx.x;
  float sum = 0.0f, squares = 0.0f;
  for (int j = threadIdx.x; j < cols; j += blockDim.x) {
    float v = x[row * cols + j];
    sum += v;
    squares += v * v;
  }
  sum = BlockReduce(for_sum).Sum(sum);
  squares = BlockReduce(for_squares).Sum(squares);
  if (threadIdx.x == 0) {
    mean = sum / cols;
    scale = rsqrtf(squares / cols - mean * mean + eps);
  }
  __syncthreads();
  for (int j = threadIdx.x; j < cols; j += blockDim.x)
    y[row * cols + j] = (x[row * cols + j] - mean) * scale * gain[j];
}

// rows of probabilities
__global__ void softmax(const float *x, float *y, int cols) {
  using Reduce = cub::BlockReduce<float, THREADS>;
  __shared__ union {
    typename Reduce::TempStorage most;
    typename Reduce::TempStorage total;
  } storage;
  __shared__ float most, total;
  const float *row = x + blockIdx.x * cols;
  float own = -INFINITY;
  for (int j = threadIdx.x; j < cols; j += THREADS) own = fmaxf(own, row[j]);
  own = Reduce(storage.most).Reduce(own, cub::Max());
  if (threadIdx.x == 0) most = own;
  __syncthreads();
  float sum = 0.0f;
  for (int j = threadIdx.x; j < cols; j += THREADS) sum += expf(row[j] - most);
  sum = Reduce(storage.total).Sum(sum);
  if (threadIdx.x == 0) total = sum;
  __syncthreads();
  for (int j = threadIdx.x; j < cols; j += THREADS) y[blockIdx.x * cols + j] = expf(row[j] - most) / total;
}

template <typename T, int N> __device__ T block_sum(T v) {
  typedef cub::BlockReduce<T, N> Reduce;
  __shared__ typename Reduce::TempStorage storage;
  return Reduce(storage).Sum(v);
}

// one number for all rows: the squared distance of a and b
__global__ void distance(const float *a, const float *b, float *out, int n) {
  int i = blockIdx.x * THREADS + threadIdx.x;
  float d = i < n ? a[i] - b[i] : 0.0f;
  d = block_sum<float, THREADS>(d * d);
  if (threadIdx.x == 0) atomicAdd(out, d);
}
