#include <math.h>
#define EPS 0.005f

// mean and standard deviation of each column of an n x m table
__global__ void column_stats(int m, int n, float *mean, float *stddev, const float *data) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < m) {
        float total = 0.0f;
        for (int i = 0; i < n; i++) total += data[i * m + j];
        mean[j] = total / n;
        float squares = 0.0f;
        for (int i = 0; i < n; i++) {
            float d = data[i * m + j] - mean[j];
            squares += d * d;
        }
        float s = sqrtf(squares / n);
        stddev[j] = s <= EPS ? 1.0f : s;  // a constant column must not be divided by zero
    }
}

// centre and scale the columns
__global__ void reduce_columns(int m, int n, const float *mean, const float *stddev, float *data) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < m) {
        data[i * m + j] -= mean[j];
        data[i * m + j] /= sqrtf((float)n) * stddev[j];
    }
}
