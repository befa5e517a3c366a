__global__ void sumk(float*a, const float*b, size_t n) {
    size_t tid = (size_t)blockIdx.x*blockDim.x+threadIdx.x;
    size_t stride = blockDim.x*gridDim.x;
    for (size_t i = tid; i<n; i += stride) a[i] = b[i]*2;
    unsigned int lane = threadIdx.x&31;
    unsigned sum = 0;
    for (unsigned j = lane; j--; ) sum += j;
    for (int q = n-1; q >= 0; q -= 2) {
        if (tid == q) a[q] += 1+sum;
    }
}
