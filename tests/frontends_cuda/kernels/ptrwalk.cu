__global__ void ptrwalk(float*C, const float*A, const float*B, int N) {
    A += blockIdx.y*2*N;
    B += blockIdx.x*2;
    C += blockIdx.y*2*N+blockIdx.x*2;
    int r = threadIdx.x/2, c = threadIdx.x%2;
    __shared__ float As[2*2], Bs[2*2];
    float t = 0;
    for (int k = 0; k<N; k += 2) {
        As[r*2+c] = A[r*N+c];
        Bs[r*2+c] = B[r*N+c];
        __syncthreads();
        A += 2;
        B += 2*N;
        for (int d = 0; d<2; ++d) t += As[r*2+d]*Bs[d*2+c];
        __syncthreads();
    }
    C[r*N+c] = t;
}
