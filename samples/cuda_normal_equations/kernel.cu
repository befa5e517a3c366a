typedef float real;

// tmp = A x
__global__ void matvec(int nx, int ny, const real *A, const real *x, real *tmp) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nx) {
        tmp[i] = 0;
        for (int j = 0; j < ny; j++) {
            tmp[i] += A[i * ny + j] * x[j];
        }
    }
}

// y = A^T tmp
__global__ void matvec_transposed(int nx, int ny, const real *A, real *y, const real *tmp) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < ny) {
        y[j] = 0;
        for (int i = 0; i < nx; i++) {
            y[j] += A[i * ny + j] * tmp[i];
        }
    }
}

void normal_equations(int nx, int ny, real *A, real *x, real *y, real *tmp) {
    int block = 256;
    matvec<<<(nx + block - 1) / block, block>>>(nx, ny, A, x, tmp);
    cudaDeviceSynchronize();
    matvec_transposed<<<(ny + block - 1) / block, block>>>(nx, ny, A, y, tmp);
    cudaDeviceSynchronize();
}
