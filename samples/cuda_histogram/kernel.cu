#define BINS 16

// counts the bytes by their upper four bits
__global__ void histogram(const unsigned char *data, unsigned int *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int stride = blockDim.x * gridDim.x;
    while (i < n) {
        atomicAdd(&bins[data[i] >> 4 & (BINS - 1)], 1u);
        i += stride;
    }
}
