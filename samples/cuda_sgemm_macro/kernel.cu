#define ROW_MAJOR(M, row, col, ld) M[(row) * (ld) + (col)]

// C = alpha A B + beta C
__global__ void sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float acc = 0.0f;
        for (int k = 0; k < K; ++k)
            acc += ROW_MAJOR(A, row, k, K) * ROW_MAJOR(B, k, col, N);
        ROW_MAJOR(C, row, col, N) = alpha * acc + beta * ROW_MAJOR(C, row, col, N);
    }
}
