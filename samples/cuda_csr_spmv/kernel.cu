// y = alpha A x + beta y, A in compressed rows, a grid-stride loop over the rows
__global__ void csr_spmv(int rows, const int *__restrict__ ptr, const int *__restrict__ col,
                         const double *__restrict__ val, const double *__restrict__ x, double *y,
                         double alpha, double beta) {
    for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += gridDim.x * blockDim.x) {
        double sum = 0;
        const int end = ptr[r + 1];
        for (int k = ptr[r]; k < end; ++k) sum += val[k] * x[col[k]];
        y[r] = alpha * sum + beta * y[r];
    }
}
