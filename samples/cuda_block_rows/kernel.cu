// blocks that look at all of their own cells, the last one cut off at n
#define TILE 64

// each cell less the mean of its block
__global__ void centred(const float *x, float *y, int n) {
    __shared__ float tile[TILE];
    int t = threadIdx.x, i = blockIdx.x * TILE + t;
    tile[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = TILE / 2; k > 0; k >>= 1) {
        if (t < k) tile[t] += tile[t + k];
        __syncthreads();
    }
    if (i < n) y[i] = x[i] - tile[0] / TILE;
}

// every block turned round
__global__ void turned(const float *x, float *y, int n) {
    extern __shared__ float s[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n) y[i] = s[blockDim.x - 1 - t];
}

// weighted sums of blocks by a grid-stride loop
__global__ void shares(const float *x, const float *w, float *share, int n) {
    extern __shared__ float s[];
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i] * w[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) share[blockIdx.x] = s[0];
}
