#define THREADS 32
#define REACH 2

// second differences: the first and the last thread of a block fetch the neighbours beyond it, zero outside
__global__ void curvature(const float *u, float *d, int n) {
    __shared__ float s[THREADS + 2];
    int t = threadIdx.x;
    int i = blockIdx.x * THREADS + t;
    s[t + 1] = i < n ? u[i] : 0.0f;
    if (t == 0) s[0] = i > 0 ? u[i - 1] : 0.0f;
    if (t == THREADS - 1) s[THREADS + 1] = i + 1 < n ? u[i + 1] : 0.0f;
    __syncthreads();
    if (i < n) d[i] = s[t] - 2.0f * s[t + 1] + s[t + 2];
}

// sums over five cells of an array with a margin; how many threads a block has is said by the cells beyond it
__global__ void five_sums(const float *u, float *sum) {
    __shared__ float s[THREADS + 2 * REACH];
    int i = blockIdx.x * blockDim.x + threadIdx.x + REACH;
    int own = threadIdx.x + REACH;
    s[own] = u[i];
    if (threadIdx.x < REACH) {
        s[own - REACH] = u[i - REACH];
        s[own + THREADS] = u[i + THREADS];
    }
    __syncthreads();
    float total = 0.0f;
    for (int k = -REACH; k <= REACH; k++) total += s[own + k];
    sum[i] = total;
}
