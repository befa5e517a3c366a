#include <stdint.h>

__host__ __device__ __forceinline__ uint32_t lcg(uint32_t state) { return state * 1664525u + 1013904223u; }

// the estimate of pi of each thread, from its own stream of random numbers
__global__ void estimate_pi(uint32_t *seeds, float *estimate, int samples, int threads) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= threads) return;
    uint32_t state = seeds[i];
    int hits = 0;
    for (int s = 0; s < samples; s++) {
        state = lcg(state);
        float x = (state >> 8) * (1.0f / 16777216.0f);
        state = lcg(state);
        float y = (state >> 8) * (1.0f / 16777216.0f);
        if (x * x + y * y <= 1.0f) hits++;
    }
    seeds[i] = state;
    estimate[i] = 4.0f * hits / samples;
}
