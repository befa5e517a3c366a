// ends that move with their counter, beside parameters that have its name
__global__ void ownend(const float *x, float *y, int k, int m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 0.0f;
    for (int k = 0; k < k + m; k++) {
        s += x[i] * k;
        if (k > 5) break;
    }
    for (int m = 3; m < 3 * m - 4 && m < 9; m++) s += m;
    int j;
    for (j = 10; j > 13 - j; j--) s += x[i] * j;
    for (int n = 0; n < 20; n += n + 1) s -= x[i] * n;
    y[i] = s + k + m + n + j;
}
