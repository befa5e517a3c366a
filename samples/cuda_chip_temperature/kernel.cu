#define AMBIENT 80.0f

// temperature of a chip after one step; the edges have no neighbour and take their own value
__global__ void chip_temperature(const float *temp, const float *power, float *result, int rows, int cols, float cap,
                                 float rx, float ry, float rz) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= cols || r >= rows) return;

    int N = r == 0 ? 0 : r - 1;
    int S = r == rows - 1 ? rows - 1 : r + 1;
    int W = c == 0 ? 0 : c - 1;
    int E = (c == cols - 1) ? cols - 1 : c + 1;

    float t = temp[r * cols + c];
    result[r * cols + c] = t + cap * (power[r * cols + c]
                                      + (temp[S * cols + c] + temp[N * cols + c] - 2.0f * t) * ry
                                      + (temp[r * cols + E] + temp[r * cols + W] - 2.0f * t) * rx
                                      + (AMBIENT - t) * rz);
}
