// Flow in a cavity under a moving lid by the lattice-Boltzmann method: what would come from beyond a wall is what went
// there, and the lid hands on its speed. Two lattices that change places.

#define Q 9

__constant__ int cx[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int cy[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ int opposite[Q] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
__constant__ float weight[Q] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};

__global__ void advance(const float *f, float *g, int nx, int ny, float omega, float lid)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    float in[Q], rho = 0.f, ux = 0.f, uy = 0.f;
    for (int q = 0; q < Q; ++q) {
        int fx = x - cx[q], fy = y - cy[q];
        if (fx < 0 || fx >= nx || fy < 0)
            in[q] = f[(opposite[q] * ny + y) * nx + x];
        else if (fy >= ny)
            in[q] = f[(opposite[q] * ny + y) * nx + x] + 6.f * weight[q] * cx[q] * lid;
        else
            in[q] = f[(q * ny + fy) * nx + fx];
        rho += in[q];
        ux += cx[q] * in[q];
        uy += cy[q] * in[q];
    }
    ux /= rho;
    uy /= rho;
    float square = 1.5f * (ux * ux + uy * uy);
    for (int q = 0; q < Q; ++q) {
        float along = 3.f * (cx[q] * ux + cy[q] * uy);
        float aim = weight[q] * rho * (1.f + along + 0.5f * along * along - square);
        g[(q * ny + y) * nx + x] = in[q] + omega * (aim - in[q]);
    }
}

void cavity(float *populations, int nx, int ny, int steps, float omega, float lid)
{
    size_t bytes = (size_t)Q * nx * ny * sizeof(float);
    float *f, *g;
    cudaMalloc(&f, bytes);
    cudaMalloc(&g, bytes);
    cudaMemcpy(f, populations, bytes, cudaMemcpyHostToDevice);
    dim3 block(16, 16), grid((nx + 15) / 16, (ny + 15) / 16);
    for (int t = 0; t < steps; ++t) {
        advance<<<grid, block>>>(f, g, nx, ny, omega, lid);
        float *other = f;
        f = g;
        g = other;
    }
    cudaMemcpy(populations, f, bytes, cudaMemcpyDeviceToHost);
    cudaFree(f);
    cudaFree(g);
}
