struct Add{
    __device__ float operator()(float a, float b) const {
        return a+b;
    }
};
struct Mx{
    __device__ float operator()(float a, float b) const {
        return a>b?a:b;
    }
};
template<class Op> __device__ float fold(const float*x, int n, float init, Op op) {
    float r = init;
    for (int i = 0; i<n; i++) r = op(r, x[i]);
    return r;
}
template<typename Op> __global__ void functor(const float*x, float*y, int n) {
    Op op;
    int i = threadIdx.x;
    if (i == 0) y[0] = fold(x, n, 0.f, op);
    if (i == 1) y[1] = fold(x, n, -1e30f, Mx());
}
template __global__ void functor<Add>(const float*, float*, int);
