#define ROUNDS 200

// each thread follows one population for many generations
__global__ void logistic(const float *growth, const float *start, float *end, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = start[i];
    for (int t = 0; t < ROUNDS; t++) {
        x += 0.05f * growth[i] * x * (1.0f - x);
    }
    end[i] = x;
}
