template<typename T, int N> __global__ void tmpl(const T*a, T*b, int n) {
    __shared__ T s[N];
    int t = threadIdx.x;
    int i = blockIdx.x*N+t;
    s[t] = i<n?a[i]:T(0);
    __syncthreads();
    if (i<n) b[i] = s[N-1-t];
}
void run(const float*a, float*b, int n) {
    tmpl<float, 4><<<2, 4>>>(a, b, n);
}
