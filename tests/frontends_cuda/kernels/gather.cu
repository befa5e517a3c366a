__global__ void gather(const int*__restrict__ idx, const float*__restrict__ x, float*y, int n) {
    for (int i = threadIdx.x; i<n; i += blockDim.x) {
        int j = __ldg(&idx[i]);
        y[i] = (j >= 0 && j<n && x[j]>0.f)?x[j]:0.f;
        if (i>0 && x[i-1]>x[i]) y[i] -= x[i-1];
    }
}
