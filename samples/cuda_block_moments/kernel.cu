// least, greatest and mean of each block's elements, by three trees in one dynamic shared array
__global__ void block_moments(const float *x, float *least, float *greatest, float *mean, int n) {
    extern __shared__ float scratch[];
    float *low = scratch;
    float *high = low + blockDim.x;
    float *sum = &scratch[2 * blockDim.x];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    low[t] = i < n ? x[i] : INFINITY;
    high[t] = i < n ? x[i] : -INFINITY;
    sum[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w >>= 1) {
        if (t < w) {
            low[t] = fminf(low[t], low[t + w]);
            high[t] = fmaxf(high[t], high[t + w]);
            sum[t] += sum[t + w];
        }
        __syncthreads();
    }
    if (t == 0) {
        least[blockIdx.x] = low[0];
        greatest[blockIdx.x] = high[0];
        mean[blockIdx.x] = sum[0] / blockDim.x;
    }
}
