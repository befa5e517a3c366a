// Sparse rows of different lengths in tables of one width: by rows, and by columns (so that neighbours read neighbours).

__global__ void rows_product(const int *length, const int *column, const float *entry, const float *x, float *y,
                             int rows, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float sum = 0.0f;
        for (int k = 0; k < length[r]; k++) sum += entry[r * width + k] * x[column[r * width + k]];
        y[r] = sum;
    }
}

__global__ void columns_product(const int *length, const int *column, const float *entry, const float *x, float *y,
                                int rows) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int k = 0; k < length[r]; k++) {
        int at = k * rows + r;
        sum += entry[at] * x[column[at]];
    }
    y[r] = sum;
}

// the largest entry of each row, and the place after the last
__global__ void rows_largest(const int *length, const float *entry, float *most, int *end, int rows, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float m = -1e30f;
        int k;
        for (k = 0; k < length[r]; k++) m = fmaxf(m, entry[r * width + k]);
        most[r] = m;
        end[r] = k;
    }
}
