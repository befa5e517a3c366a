// one colour of a coloured Gauss-Seidel sweep: the unknowns in `nodes` are no neighbours of each other
__global__ void coloured_sweep(const int *nodes, int count, const int *ptr, const int *col, const float *val,
                               const float *diagonal, const float *b, const float *old, float *x) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < count) {
        int i = nodes[t];
        float sum = b[i];
        for (int k = ptr[i]; k < ptr[i + 1]; k++) sum -= val[k] * old[col[k]];
        x[i] = sum / diagonal[i];
    }
}
