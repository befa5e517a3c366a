#include <vector>

#define THREADS 128

// partial sums of the blocks, then their sum by one block
__global__ void block_sum(const float *x, float *partial, int n) {
    __shared__ float s[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    s[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = THREADS / 2; k > 0; k /= 2) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = s[0];
}

float sum(const float *d_x, int n) {
    int blocks = (n + THREADS - 1) / THREADS;
    float *d_partial, *d_total;
    cudaMalloc(&d_partial, blocks * sizeof(float));
    cudaMalloc(&d_total, sizeof(float));
    block_sum<<<blocks, THREADS>>>(d_x, d_partial, n);
    block_sum<<<1, THREADS>>>(d_partial, d_total, blocks);
    float total;
    cudaMemcpy(&total, d_total, sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d_partial);
    cudaFree(d_total);
    return total;
}

// the second step on the host
float sum_on_host(const float *d_x, int n) {
    int blocks = (n + THREADS - 1) / THREADS;
    float *d_partial;
    std::vector<float> partial(blocks);
    cudaMalloc((void **)&d_partial, blocks * sizeof(float));
    block_sum<<<blocks, THREADS>>>(d_x, d_partial, n);
    cudaMemcpy(partial.data(), d_partial, blocks * sizeof(float), cudaMemcpyDeviceToHost);
    float total = 0.0f;
    for (int b = 0; b < blocks; b++) total += partial[b];
    cudaFree(d_partial);
    return total;
}
