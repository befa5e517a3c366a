// 7-point heat equation on a flat array, z outermost
__global__ void stencil3d(const double *in, double *out, int nx, int ny, int nz, double alpha, double beta) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 || y == 0 || x >= nx - 1 || y >= ny - 1) return;

    const int plane = nx * ny;
    for (int z = 1; z < nz - 1; z++) {
        int c = z * plane + y * nx + x;
        double sum = in[c - 1] + in[c + 1] + in[c - nx] + in[c + nx] + in[c - plane] + in[c + plane];
        out[c] = alpha * in[c] + beta * sum;
    }
}
