#define B 3

// y = A x for a matrix of dense 3 x 3 blocks: the blocks of row r are starts[r] ... starts[r + 1] - 1
__global__ void multiply(const int *starts, const int *columns, const float *blocks, const float *x, float *y, int rows) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    for (int i = 0; i < B; ++i) {
        float sum = 0.0f;
        for (int k = starts[r]; k < starts[r + 1]; ++k)
            for (int j = 0; j < B; ++j)
                sum += blocks[(k * B + i) * B + j] * x[columns[k] * B + j];
        y[r * B + i] = sum;
    }
}
