template<bool ADD, int U = 2> __global__ void cexpr(const float*x, float*y, int n) {
    int i = (blockIdx.x*blockDim.x+threadIdx.x)*U;
    if constexpr(ADD) {
        for (int k = 0; k<U; k++) if (i+k<n) y[i+k] += x[i+k];
    }  else {
        for (int k = 0; k<U; k++) if (i+k<n) y[i+k] -= x[i+k];
    }
}
template __global__ void cexpr<true>(const float*, float*, int);
