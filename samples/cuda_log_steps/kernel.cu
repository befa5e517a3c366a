// Steps that double their reach, of more than one array at a time: no running sum explains them.

#define SIZE 128

// Cyclic reduction: each block solves a tridiagonal system, whose rows it halves the coupling of in each step.
__global__ void tridiagonal(const float *lower, const float *diagonal, const float *upper, const float *right,
                            float *x) {
    __shared__ float a[SIZE], b[SIZE], c[SIZE], d[SIZE];
    int t = threadIdx.x;
    int i = blockIdx.x * SIZE + t;
    a[t] = t > 0 ? lower[i] : 0.0f;
    b[t] = diagonal[i];
    c[t] = t < SIZE - 1 ? upper[i] : 0.0f;
    d[t] = right[i];
    __syncthreads();
    for (int reach = 1; reach < SIZE; reach *= 2) {
        float before = 0.0f, after = 0.0f, na = 0.0f, nc = 0.0f;
        float nb = b[t], nd = d[t];
        if (t >= reach) {
            before = a[t] / b[t - reach];
            nb -= before * c[t - reach];
            nd -= before * d[t - reach];
            na = -before * a[t - reach];
        }
        if (t + reach < SIZE) {
            after = c[t] / b[t + reach];
            nb -= after * a[t + reach];
            nd -= after * d[t + reach];
            nc = -after * c[t + reach];
        }
        __syncthreads();
        a[t] = na;
        b[t] = nb;
        c[t] = nc;
        d[t] = nd;
        __syncthreads();
    }
    x[i] = d[t] / b[t];
}

// Running sums that start anew at each head of a segment.
__global__ void segmented_sums(const float *x, const int *head, float *y) {
    __shared__ float sum[SIZE];
    __shared__ int seen[SIZE];
    int t = threadIdx.x;
    int i = blockIdx.x * SIZE + t;
    sum[t] = x[i];
    seen[t] = head[i];
    __syncthreads();
    for (int reach = 1; reach < SIZE; reach <<= 1) {
        float more = 0.0f;
        int before = 0;
        if (t >= reach) {
            more = sum[t - reach];
            before = seen[t - reach];
        }
        __syncthreads();
        if (!seen[t])
            sum[t] += more;
        seen[t] |= before;
        __syncthreads();
    }
    y[i] = sum[t];
}
