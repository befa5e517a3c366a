// Jacobi iteration until the sum of the changes is small
__global__ void sweep(const float *u, float *v, const float *f, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < n - 1 && y > 0 && y < n - 1) {
        int k = y * n + x;
        v[k] = 0.25f * (u[k - 1] + u[k + 1] + u[k - n] + u[k + n] + f[k]);
    }
}

__global__ void row_change(const float *u, const float *v, float *change, int n) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y < n) {
        float s = 0.0f;
        for (int x = 0; x < n; x++) s += fabsf(u[y * n + x] - v[y * n + x]);
        change[y] = s;
    }
}

int solve(float *u, const float *f, int n, float tolerance, int max_iter) {
    size_t bytes = (size_t)n * n * sizeof(float);
    float *d_u, *d_v, *d_f, *d_change;
    float *change = (float *)malloc(n * sizeof(float));
    cudaMalloc(&d_u, bytes);
    cudaMalloc(&d_v, bytes);
    cudaMalloc(&d_f, bytes);
    cudaMalloc(&d_change, n * sizeof(float));
    cudaMemcpy(d_u, u, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_v, u, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_f, f, bytes, cudaMemcpyHostToDevice);
    dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
    float error = 2.0f * tolerance;
    int it = 0;
    while (error > tolerance && it < max_iter) {
        sweep<<<grid, block>>>(d_u, d_v, d_f, n);
        row_change<<<(n + 63) / 64, 64>>>(d_u, d_v, d_change, n);
        cudaMemcpy(change, d_change, n * sizeof(float), cudaMemcpyDeviceToHost);
        error = 0.0f;
        for (int y = 0; y < n; y++) error += change[y];
        float *swapped = d_u;
        d_u = d_v;
        d_v = swapped;
        it++;
    }
    cudaMemcpy(u, d_u, bytes, cudaMemcpyDeviceToHost);
    cudaFree(d_u);
    cudaFree(d_v);
    cudaFree(d_f);
    cudaFree(d_change);
    free(change);
    return it;
}
