#define PITCH 16

// one step of an elimination: the rows below pivot p, by their multipliers, with unsigned guards
__global__ void eliminate(const float *multiplier, float *a, float *rhs, int n, int p) {
    if (threadIdx.x + blockIdx.x * blockDim.x >= n - 1 - p) return;
    if (threadIdx.y + blockIdx.y * blockDim.y >= n - p) return;
    int row = blockIdx.x * blockDim.x + threadIdx.x + p + 1;
    int col = blockIdx.y * blockDim.y + threadIdx.y + p;
    a[n * row + col] -= multiplier[n * row + p] * a[n * p + col];
    if (col == p) rhs[row] -= multiplier[n * row + col] * rhs[p];
}

// the same inside one matrix, whose rows may be longer than n
__global__ void update(float *a, int n, int p) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > p && j > p && i < n && j < n) a[i * PITCH + j] -= a[i * PITCH + p] * a[p * PITCH + j];
}

// a row from the row before it
__global__ void sweep_row(const float *below, float *x, float *diagonal, int n, int r) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < n) {
        x[r * PITCH + j] -= x[(r - 1) * PITCH + j] * below[r * PITCH + j] / diagonal[(r - 1) * PITCH + j];
        diagonal[r * PITCH + j] -= below[r * PITCH + j] * below[r * PITCH + j] / diagonal[(r - 1) * PITCH + j];
    }
}
