// Sizes that only the caller's template arguments fix: a tile's edge and a radius.
template <int TILE>
__global__ void product(const float *a, const float *b, float *c, int rows, int inner, int cols) {
    __shared__ float left[TILE][TILE];
    __shared__ float right[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int tile = 0; tile < (inner + TILE - 1) / TILE; ++tile) {
        int ka = tile * TILE + threadIdx.x;
        int kb = tile * TILE + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = row < rows && ka < inner ? a[row * inner + ka] : 0.0f;
        right[threadIdx.y][threadIdx.x] = kb < inner && col < cols ? b[kb * cols + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    if (row < rows && col < cols)
        c[row * cols + col] = sum;
}

template <int RADIUS>
__global__ void smooth(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < RADIUS || i >= n - RADIUS)
        return;
    float sum = 0.0f;
    for (int k = -RADIUS; k <= RADIUS; ++k)
        sum += x[i + k];
    y[i] = sum / (2 * RADIUS + 1);
}

// Two radii: RADIUS stays an argument of the function.
void twice(const float *x, float *y, float *z, int n) {
    smooth<1><<<(n + 255) / 256, 256>>>(x, y, n);
    smooth<3><<<(n + 255) / 256, 256>>>(y, z, n);
}
