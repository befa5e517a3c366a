// One tridiagonal system a thread, interleaved so that neighbouring threads touch neighbouring cells.
__global__ void thomas(const float *lower, const float *diag, const float *upper, const float *rhs, float *c, float *d,
                       float *x, int n, int systems) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems) return;
    c[s] = upper[s] / diag[s];
    d[s] = rhs[s] / diag[s];
    for (int i = 1; i < n; i++) {
        int at = i * systems + s;
        float pivot = diag[at] - lower[at] * c[at - systems];
        c[at] = upper[at] / pivot;
        d[at] = (rhs[at] - lower[at] * d[at - systems]) / pivot;
    }
    x[(n - 1) * systems + s] = d[(n - 1) * systems + s];
    for (int i = n - 2; i >= 0; i--) x[i * systems + s] = d[i * systems + s] - c[i * systems + s] * x[(i + 1) * systems + s];
}
