__device__ __forceinline__ float sq(float x) {
    return x*x;
}
__device__ void two(float x, float&a, float*b) {
    a = x+1;
    *b = x*2;
}
__device__ float dot(const float*a, const float*b, int n) {
    float s = 0;
    for (int i = 0; i<n; i++) s += a[i]*b[i];
    return s;
}
__device__ int gid() {
    return blockIdx.x*blockDim.x+threadIdx.x;
}
template<typename T> __device__ T clampT(T x, T lo, T hi) {
    return x<lo?lo:(x>hi?hi:x);
}
__device__ float sgn(float x) {
    if (x>0) return 1.f;
    if (x<0) return -1.f;
    return 0.f;
}
__device__ void scale(float*p, int n, float s) {
    for (int k = 0; k<n; k++) p[k] *= s;
}
__global__ void helper(const float*A, float*y, int n, int m) {
    int i = gid();
    if (i >= n) return;
    float a, b;
    two(sq(A[i*m]), a, &b);
    y[i] = a+b+dot(A+i*m, &A[0], m)+clampT(A[i], -0.5f, 0.5f)+clampT<int>(i, 1, 2)+sgn(A[i*m+1]);
    float loc[3] = {a, b, 1.f};
    scale(loc, 3, 0.5f);
    scale(y+i, 1, 2.f);
    y[i] += loc[0]+loc[2];
}
