#include <cuda_runtime.h>
#include <stdio.h>
#include <utility>

#define CHECK(call)                                                                  \
    do {                                                                             \
        cudaError_t status_ = (call);                                                \
        if (status_ != cudaSuccess) {                                                \
            fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

__global__ void stencil(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 1 && i < n - 1) out[i] = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1];
}

// which of the two arrays holds the last step depends on the number of steps
void iterate(int time_steps, float *src, float *dst, int n) {
    for (int t = 0; t < time_steps; ++t) {
        stencil<<<(n + 255) / 256, 256>>>(src, dst, n);
        std::swap(src, dst);
    }
}

// the same with its own device memory, error checks and timing
void smooth(float *host, int n, int time_steps) {
    float *d_in, *d_out;
    size_t bytes = n * sizeof(float);
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaMalloc((void **)&d_in, bytes));
    CHECK(cudaMalloc((void **)&d_out, bytes));
    CHECK(cudaMemcpy(d_in, host, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_out, d_in, bytes, cudaMemcpyDeviceToDevice));
    CHECK(cudaEventRecord(start, 0));
    dim3 block(128);
    dim3 grid((n + block.x - 1) / block.x);
    for (int t = 0; t < time_steps; ++t) {
        stencil<<<grid, block>>>(d_in, d_out, n);
        CHECK(cudaGetLastError());
        float *other = d_in;
        d_in = d_out;
        d_out = other;
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventRecord(stop, 0));
    float ms = 0.0f;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    printf("%d steps in %f ms\n", time_steps, ms);
    CHECK(cudaMemcpy(host, d_in, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_out));
}
