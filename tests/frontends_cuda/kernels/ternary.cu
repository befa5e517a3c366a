__global__ void ternary(const float*x, float*y, int n) {
    int i = threadIdx.x;
    const float*src = i%2?x:y;
    if (i<n) {
        float a = x[i];
        y[i] = a>0.5f?1.f:a>0.f?a:a>-0.5f?i:-1;
        int k = i>2?i--:i++;
        y[i<n?i:0] += k;
    }
}
