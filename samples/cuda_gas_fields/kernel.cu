#include <cuda_runtime.h>
#include <stdio.h>

#define CHECK(call)                                                              \
    do {                                                                         \
        cudaError_t status = (call);                                             \
        if (status != cudaSuccess) {                                             \
            fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            exit(1);                                                             \
        }                                                                        \
    } while (0)

// density and momentum of a gas in a tube, each with a buffer for the next step
struct Gas {
    float *density[2];
    float *momentum[2];
    int n;
    float courant;
};

__global__ void move_density(const float *density, const float *momentum, float *next, float c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        next[i] = 0.5f * (density[i - 1] + density[i + 1]) - 0.5f * c * (momentum[i + 1] - momentum[i - 1]);
}

__global__ void move_momentum(const float *density, const float *momentum, float *next, float c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) {
        float left = momentum[i - 1] * momentum[i - 1] / density[i - 1] + density[i - 1];
        float right = momentum[i + 1] * momentum[i + 1] / density[i + 1] + density[i + 1];
        next[i] = 0.5f * (momentum[i - 1] + momentum[i + 1]) - 0.5f * c * (right - left);
    }
}

void allocate(Gas *gas, const float *density, const float *momentum, int n, float courant) {
    gas->n = n;
    gas->courant = courant;
    for (int b = 0; b < 2; b++) {
        CHECK(cudaMalloc((void **)&gas->density[b], n * sizeof(float)));
        CHECK(cudaMalloc((void **)&gas->momentum[b], n * sizeof(float)));
        CHECK(cudaMemcpy(gas->density[b], density, n * sizeof(float), cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(gas->momentum[b], momentum, n * sizeof(float), cudaMemcpyHostToDevice));
    }
}

void advance(Gas &gas, int from, int to) {
    const int threads = 128;
    int blocks = (gas.n + threads - 1) / threads;
    move_density<<<blocks, threads>>>(gas.density[from], gas.momentum[from], gas.density[to], gas.courant, gas.n);
    move_momentum<<<blocks, threads>>>(gas.density[from], gas.momentum[from], gas.momentum[to], gas.courant, gas.n);
    CHECK(cudaGetLastError());
}

void shock_tube(float *density, float *momentum, int n, float courant, int steps) {
    Gas gas;
    allocate(&gas, density, momentum, n, courant);
    int from = 0, to = 1;
    for (int step = 0; step < steps; step++) {
        advance(gas, from, to);
        from ^= 1;
        to ^= 1;
    }
    CHECK(cudaMemcpy(density, gas.density[from], n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(momentum, gas.momentum[from], n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int b = 0; b < 2; b++) {
        cudaFree(gas.density[b]);
        cudaFree(gas.momentum[b]);
    }
}
