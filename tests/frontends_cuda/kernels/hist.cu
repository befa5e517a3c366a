__global__ void hist(const unsigned char*d, int*h, int n) {
    __shared__ int s[16];
    if (threadIdx.x<16) s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x*blockDim.x+threadIdx.x; i<n; i += blockDim.x*gridDim.x) atomicAdd(&s[d[i]>>4], 1);
    __syncthreads();
    if (threadIdx.x<16) atomicAdd(h+threadIdx.x, s[threadIdx.x]);
}
