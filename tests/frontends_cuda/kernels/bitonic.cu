__global__ void bitonic(int*d, int n) {
    extern __shared__ int s[];
    int t = threadIdx.x;
    s[t] = d[t];
    __syncthreads();
    for (unsigned k = 2; k <= n; k *= 2) {
        for (unsigned j = k/2; j>0; j /= 2) {
            unsigned ixj = t^j;
            if (ixj>t) {
                if ((t&k) == 0) {
                    if (s[t]>s[ixj]) {
                        int tmp = s[t];
                        s[t] = s[ixj];
                        s[ixj] = tmp;
                    }
                }  else {
                    if (s[t]<s[ixj]) {
                        int tmp = s[t];
                        s[t] = s[ixj];
                        s[ixj] = tmp;
                    }
                }
            }
            __syncthreads();
        }
    }
    d[t] = s[t];
}
