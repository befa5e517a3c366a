// Subscripts narrower than an int are promoted, not reinterpreted; counts of threads in 64 bits.
__global__ void bytes(const unsigned char *u, const signed char *s, const unsigned short *h, const float *table,
                      float *out, unsigned *counts, size_t n) {
    size_t stride = blockDim.x * gridDim.x;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        unsigned char low = h[i] & 255;
        const float *p = table + u[i];
        out[i] = table[u[i]] + 2.0f * table[s[i] + 128] + 3.0f * table[low] + 5.0f * *p;
        atomicAdd(&counts[u[i]], 1u);
    }
}
