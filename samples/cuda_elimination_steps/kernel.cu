// A dense system by Gaussian elimination: two launches for each pivot, then two for each unknown from the last to the
// first. The pivots' rows and columns shrink with the rounds.

__global__ void factors(const float *a, float *m, int n, int t)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n - 1 - t) return;
    m[(i + t + 1) * n + t] = a[(i + t + 1) * n + t] / a[t * n + t];
}

__global__ void eliminate(float *a, float *b, const float *m, int n, int t)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n - t || y >= n - 1 - t) return;
    a[(y + 1 + t) * n + x + t] -= m[(y + 1 + t) * n + t] * a[t * n + x + t];
    if (x == 0) b[y + 1 + t] -= m[(y + 1 + t) * n + t] * b[t];
}

__global__ void unknown(const float *a, float *b, int n, int i)
{
    b[i] /= a[i * n + i];
}

__global__ void substitute(const float *a, float *b, int n, int i)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < i) b[row] -= a[row * n + i] * b[i];
}

void solve(const float *h_a, float *h_b, int n)
{
    float *a, *b, *m;
    cudaMalloc(&a, n * n * sizeof(float));
    cudaMalloc(&m, n * n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMemset(m, 0, n * n * sizeof(float));
    cudaMemcpy(a, h_a, n * n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(b, h_b, n * sizeof(float), cudaMemcpyHostToDevice);
    dim3 block(16, 16);
    for (int t = 0; t < n - 1; t++) {
        dim3 grid((n - t + 15) / 16, (n - t + 15) / 16);
        factors<<<(n - t + 255) / 256, 256>>>(a, m, n, t);
        eliminate<<<grid, block>>>(a, b, m, n, t);
    }
    for (int i = n - 1; i >= 0; i--) {
        unknown<<<1, 1>>>(a, b, n, i);
        substitute<<<(n + 255) / 256, 256>>>(a, b, n, i);
    }
    cudaMemcpy(h_b, b, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(a);
    cudaFree(b);
    cudaFree(m);
}
