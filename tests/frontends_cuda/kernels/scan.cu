__global__ void scan(const float*in, float*out, int n) {
    extern __shared__ float temp[];
    int t = threadIdx.x;
    int pout = 0, pin = 1;
    temp[pout*n+t] = (t>0)?in[t-1]:0;
    __syncthreads();
    for (int o = 1; o<n; o <<= 1) {
        pout = 1-pout;
        pin = 1-pout;
        if (t >= o) temp[pout*n+t] = temp[pin*n+t]+temp[pin*n+t-o];
        else temp[pout*n+t] = temp[pin*n+t];
        __syncthreads();
    }
    out[t] = temp[pout*n+t];
}
