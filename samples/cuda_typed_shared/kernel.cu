// dynamic shared memory of a template's type: through a struct that converts to a pointer, and by a cast
template <class T> struct Shared {
  __device__ operator T *() {
    extern __shared__ int memory[];
    return (T *)memory;
  }
};

template <> struct Shared<double> {
  __device__ operator double *() {
    extern __shared__ double memory_d[];
    return memory_d;
  }
};

template <class T> __global__ void block_max(const T *x, T *best, int n) {
  T *s = Shared<T>();
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? x[i] : x[0];
  __syncthreads();
  for (int w = blockDim.x / 2; w > 0; w >>= 1) {
    if (t < w) s[t] = max(s[t], s[t + w]);
    __syncthreads();
  }
  if (t == 0) best[blockIdx.x] = s[0];
}

template __global__ void block_max<float>(const float *, float *, int);

__global__ void block_mean(const double *x, double *mean, int n) {
  extern __shared__ unsigned char bytes[];
  double *s = reinterpret_cast<double *>(bytes);
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? x[i] : 0.0;
  __syncthreads();
  for (int w = blockDim.x / 2; w > 0; w >>= 1) {
    if (t < w) s[t] += s[t + w];
    __syncthreads();
  }
  if (t == 0) mean[blockIdx.x] = s[0] / blockDim.x;
}
