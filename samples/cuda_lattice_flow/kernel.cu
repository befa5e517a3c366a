// Flow by the lattice-Boltzmann method: nine directions in a box that is periodic in both axes, driven by a force
#include <cuda_runtime.h>
#include <stdlib.h>

#define Q 9
#define CHECK(call)                                       \
    do {                                                  \
        if ((call) != cudaSuccess) exit(EXIT_FAILURE);    \
    } while (0)

__constant__ int cx[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int cy[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ float weight[Q] = {4.0f / 9,  1.0f / 9,  1.0f / 9,  1.0f / 9, 1.0f / 9,
                                1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};

// each cell relaxes towards the equilibrium of its density and velocity
__global__ void collide(float *f, float omega, float force, int nx, int ny) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    int cell = y * nx + x;
    float rho = 0.0f, ux = 0.0f, uy = 0.0f;
    for (int q = 0; q < Q; q++) {
        float v = f[q * nx * ny + cell];
        rho += v;
        ux += cx[q] * v;
        uy += cy[q] * v;
    }
    ux = ux / rho + force / omega;
    uy = uy / rho;
    float square = 1.5f * (ux * ux + uy * uy);
    for (int q = 0; q < Q; q++) {
        float cu = 3.0f * (cx[q] * ux + cy[q] * uy);
        float equilibrium = weight[q] * rho * (1.0f + cu + 0.5f * cu * cu - square);
        f[q * nx * ny + cell] += omega * (equilibrium - f[q * nx * ny + cell]);
    }
}

// each population moves on by its direction; what leaves on one side comes in on the other
__global__ void stream(const float *f, float *moved, int nx, int ny) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    for (int q = 0; q < Q; q++) {
        int from_x = (x - cx[q] + nx) % nx;
        int from_y = (y - cy[q] + ny) % ny;
        moved[(q * ny + y) * nx + x] = f[(q * ny + from_y) * nx + from_x];
    }
}

__global__ void speed(const float *f, float *ux, int nx, int ny) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    float rho = 0.0f, momentum = 0.0f;
    for (int q = 0; q < Q; q++) {
        rho += f[(q * ny + y) * nx + x];
        momentum += cx[q] * f[(q * ny + y) * nx + x];
    }
    ux[y * nx + x] = momentum / rho;
}

void flow(float *populations, float *ux, float omega, float force, int nx, int ny, int steps) {
    const size_t bytes = (size_t)Q * nx * ny * sizeof(float);
    float *f, *moved, *d_ux;
    CHECK(cudaMalloc(&f, bytes));
    CHECK(cudaMalloc(&moved, bytes));
    CHECK(cudaMalloc(&d_ux, nx * ny * sizeof(float)));
    CHECK(cudaMemcpy(f, populations, bytes, cudaMemcpyHostToDevice));
    dim3 block(16, 16), grid((nx + block.x - 1) / block.x, (ny + block.y - 1) / block.y);
    for (int step = 0; step < steps; step++) {
        collide<<<grid, block>>>(f, omega, force, nx, ny);
        stream<<<grid, block>>>(f, moved, nx, ny);
        float *other = f;
        f = moved;
        moved = other;
    }
    speed<<<grid, block>>>(f, d_ux, nx, ny);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(populations, f, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(ux, d_ux, nx * ny * sizeof(float), cudaMemcpyDeviceToHost));
    cudaFree(f);
    cudaFree(moved);
    cudaFree(d_ux);
}
