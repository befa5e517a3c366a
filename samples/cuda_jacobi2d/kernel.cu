#define IDX(r, c) ((r) * n + (c))

/* one Jacobi sweep over the inside of an n x n grid */
__global__ void jacobi2d(int n, const float *A, float *B) {
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= 1 && i < n - 1 && j >= 1 && j < n - 1) {
        B[IDX(i, j)] = 0.2f * (A[IDX(i, j)] + A[IDX(i, j - 1)] + A[IDX(i, j + 1)] + A[IDX(i + 1, j)] + A[IDX(i - 1, j)]);
    }
}

// the host: ping-pong between two buffers
void relax(int n, int steps, float *A, float *B) {
    dim3 block(16, 16);
    dim3 grid((n + 15) / 16, (n + 15) / 16);
    for (int t = 0; t < steps; t++) {
        jacobi2d<<<grid, block>>>(n, A, B);
        jacobi2d<<<grid, block>>>(n, B, A);
    }
}
