// Rows through pointers that walk along: a running sum, and a count down to the last element.
__global__ void running_sum(const float *in, float *out, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float *from = in + r * cols;
    float *to = out + r * cols;
    float sum = 0.0f;
    for (int c = 0; c < cols; c++) {
        sum += *from++;
        *to++ = sum;
    }
}

__global__ void horner_down(const float *coefficients, const float *x, float *y, int n, unsigned degree) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = 0.0f;
    unsigned k = degree;
    while (k-- > 0) value = value * x[i] + coefficients[k];
    y[i] = value;
}

__global__ void mirrored(const float *x, float *y, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int a = 0, b = m - 1; a < b; a++, b--) sum += x[a] * x[b];
    y[i] = sum * i;
}
