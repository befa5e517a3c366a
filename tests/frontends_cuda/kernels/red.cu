__global__ void red(const float*x, float*partial, int n) {
    extern __shared__ float s[];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x*(blockDim.x*2)+tid;
    float v = (i<n)?x[i]:0;
    if (i+blockDim.x<n) v += x[i+blockDim.x];
    s[tid] = v;
    __syncthreads();
    for (unsigned s_ = blockDim.x/2; s_>0; s_ >>= 1) {
        if (tid<s_) s[tid] = v = v+s[tid+s_];
        __syncthreads();
    }
    if (tid == 0) partial[blockIdx.x] = v;
}
