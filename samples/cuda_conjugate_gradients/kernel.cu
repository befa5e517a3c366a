// Conjugate gradients: a sparse product of our own between the dot products and updates of cuBLAS
#include <cublas_v2.h>

#define CHECK_CUBLAS(call)                                            \
    do {                                                              \
        cublasStatus_t status = (call);                               \
        if (status != CUBLAS_STATUS_SUCCESS) {                        \
            fprintf(stderr, "cuBLAS error %d\n", (int)status);        \
            exit(EXIT_FAILURE);                                       \
        }                                                             \
    } while (0)

__global__ void spmv(const int *row, const int *col, const float *val, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sum = 0.0f;
        for (int e = row[i]; e < row[i + 1]; e++) sum += val[e] * x[col[e]];
        y[i] = sum;
    }
}

int solve(const int *row, const int *col, const float *val, const float *b, float *x, int n, float tol, int max_iter) {
    cublasHandle_t handle;
    CHECK_CUBLAS(cublasCreate(&handle));
    float *r, *p, *q;
    cudaMalloc((void **)&r, n * sizeof(float));
    cudaMalloc((void **)&p, n * sizeof(float));
    cudaMalloc((void **)&q, n * sizeof(float));
    const float one = 1.0f, minus_one = -1.0f;
    int blocks = (n + 127) / 128;

    cudaMemcpy(r, b, n * sizeof(float), cudaMemcpyDeviceToDevice);
    spmv<<<blocks, 128>>>(row, col, val, x, q, n);
    CHECK_CUBLAS(cublasSaxpy(handle, n, &minus_one, q, 1, r, 1));
    CHECK_CUBLAS(cublasScopy(handle, n, r, 1, p, 1));
    float rho;
    CHECK_CUBLAS(cublasSdot(handle, n, r, 1, r, 1, &rho));
    int k = 0;
    while (rho > tol * tol && k < max_iter) {
        spmv<<<blocks, 128>>>(row, col, val, p, q, n);
        float pq, before = rho;
        CHECK_CUBLAS(cublasSdot(handle, n, p, 1, q, 1, &pq));
        float alpha = rho / pq, back = -alpha;
        CHECK_CUBLAS(cublasSaxpy(handle, n, &alpha, p, 1, x, 1));
        CHECK_CUBLAS(cublasSaxpy(handle, n, &back, q, 1, r, 1));
        CHECK_CUBLAS(cublasSdot(handle, n, r, 1, r, 1, &rho));
        float beta = rho / before;
        CHECK_CUBLAS(cublasSscal(handle, n, &beta, p, 1));
        CHECK_CUBLAS(cublasSaxpy(handle, n, &one, r, 1, p, 1));
        k++;
    }
    cudaFree(r);
    cudaFree(p);
    cudaFree(q);
    cublasDestroy(handle);
    return k;
}
