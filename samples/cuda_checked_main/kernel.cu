#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                         \
    do {                                                                                    \
        cudaError_t status = (call);                                                        \
        if (status != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            exit(EXIT_FAILURE);                                                             \
        }                                                                                   \
    } while (0)

#define TAPS 3

__constant__ float taps[TAPS];

// a filter of three taps; the ends keep what they have
__global__ void filter(const float *signal, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        out[i] = taps[0] * signal[i - 1] + taps[1] * signal[i] + taps[2] * signal[i + 1];
}

void measure(float *signal, int n) {
    for (int i = 0; i < n; i++) signal[i] = (float)rand() / RAND_MAX;
}

void show(const float *signal, int n) {
    for (int i = 0; i < n; i++) printf("%g\n", signal[i]);
}

// filters a measured signal several times over
int main(int argc, char **argv) {
    int n = 1 << 10;
    int passes = 4;
    if (argc > 1) n = atoi(argv[1]);
    if (argc > 2) passes = atoi(argv[2]);
    const size_t bytes = n * sizeof(float);
    float h_taps[TAPS] = {0.25f, 0.5f, 0.25f};

    float *h_signal = (float *)malloc(bytes);
    measure(h_signal, n);

    float *d_signal = NULL, *d_out = NULL;
    CHECK(cudaMalloc((void **)&d_signal, bytes));
    CHECK(cudaMalloc((void **)&d_out, bytes));
    CHECK(cudaMemcpyToSymbol(taps, h_taps, sizeof(h_taps)));
    CHECK(cudaMemcpy(d_signal, h_signal, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_out, d_signal, bytes, cudaMemcpyDeviceToDevice));

    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start));
    const int threads = 256;
    for (int pass = 0; pass < passes; ++pass) {
        filter<<<(n + threads - 1) / threads, threads>>>(d_signal, d_out, n);
        CHECK(cudaGetLastError());
        float *swap = d_signal;
        d_signal = d_out;
        d_out = swap;
    }
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    float ms = 0.0f;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    printf("%d passes over %d samples in %f ms\n", passes, n, ms);

    CHECK(cudaMemcpy(h_signal, d_signal, bytes, cudaMemcpyDeviceToHost));
    show(h_signal, n);
    CHECK(cudaFree(d_signal));
    CHECK(cudaFree(d_out));
    free(h_signal);
    return EXIT_SUCCESS;
}
