// Correlation of a batch of pictures with a bank of filters, where the filters fit.
__global__ void correlate(const float *in, const float *bank, const float *offset, float *out, int batch, int channels,
                          int height, int width, int filters, int taps) {
    int out_width = width - taps + 1, out_height = height - taps + 1;
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    int p = blockIdx.y * blockDim.y + threadIdx.y;
    int n = blockIdx.z / filters, f = blockIdx.z % filters;
    if (q >= out_width || p >= out_height || n >= batch) return;
    float sum = offset[f];
    for (int c = 0; c < channels; ++c)
        for (int i = 0; i < taps; ++i)
            for (int j = 0; j < taps; ++j)
                sum += in[((n * channels + c) * height + p + i) * width + q + j] *
                       bank[((f * channels + c) * taps + i) * taps + j];
    out[((n * filters + f) * out_height + p) * out_width + q] = fmaxf(sum, 0.0f);
}
