// unsuffixed literals in float code, mixed types, casts in both spellings
__global__ void literals(const int *counts, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float share = (float)counts[i] / n;
        float angle = 2.0 * 3.14159265358979 * share;
        y[i] = 0.5 * x[i] * cosf(angle) + static_cast<float>(i % 3) - float(i / 2);
    }
}
