// each column's state relaxes towards its own target, step by step; the guard stands inside of the loop
__global__ void relax(const float *target, float *state, float rate, int columns, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int t = 0; t < steps; ++t)
        if (i < columns)
            state[i] += rate * (target[t * columns + i] - state[i]);
}
