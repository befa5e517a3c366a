// A bank of second-order filters: four states in registers, samples interleaved by channel.
__global__ void biquad(const float *x, float *y, float b0, float b1, float b2, float a1, float a2, int channels, int samples) {
    int ch = blockIdx.x * blockDim.x + threadIdx.x;
    if (ch >= channels) return;
    float x1 = 0.0f, x2 = 0.0f, y1 = 0.0f, y2 = 0.0f;
    for (int n = 0; n < samples; n++) {
        float in = x[n * channels + ch];
        float out = b0 * in + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2;
        x2 = x1;
        x1 = in;
        y2 = y1;
        y1 = out;
        y[n * channels + ch] = out;
    }
}
