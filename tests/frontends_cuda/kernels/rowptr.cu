__global__ void rowptr(const float* __restrict__ a, float* y, int n, int m) {
    int r = blockIdx.x*blockDim.x+threadIdx.x;
    if (r<n) {
        const float* row = a+r*m;
        const float *end = row+m;
        float s = 0;
        float *out = &y[r];
        for (int k = 0; k<m; k++) s += row[k];
        const float*p = a+r*m;
        float t = 0;
        while (p<end) t += *p++;
        *out = s+t;
    }
}
