template<typename T> __global__ void rawsh(const T*x, T*y, int n) {
    extern __shared__ __align__(sizeof(T)) unsigned char raw[];
    T*s = reinterpret_cast<T*>(raw);
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    y[t] = s[n-1-t];
}
