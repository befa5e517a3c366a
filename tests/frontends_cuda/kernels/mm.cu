#define IDX(i, j, ld) ((i)*(ld)+(j))
__global__ void mm(const float*A, const float*B, float*C, int M, int N, int K, float alpha, float beta) {
    const uint row = blockIdx.y*blockDim.y+threadIdx.y;
    const uint col = blockIdx.x*blockDim.x+threadIdx.x;
    if (row<M && col<N) {
        float t = 0.0;
        for (int k = 0; k<K; ++k) {
            t += A[IDX(row, k, K)]*B[IDX(k, col, N)];
        }
        C[IDX(row, col, N)] = alpha*t+beta*C[IDX(row, col, N)];
    }
}
