// templates that are defined for arguments of their own, functions as arguments, constructors with braces
template <class To, class From> __device__ To made(From v);
template <> __device__ float made<float, int>(int v) { return v + 0.5f; }
template <> __device__ int made<int, float>(float v) { return (int)(v * 8); }
template <int D> __device__ float poly(float x) { return x * D + poly<D - 1>(x); }
template <> __device__ float poly<0>(float x) { return x - 100; }
template <class T> __device__ T next(T x) { return x + 1; }
template <> __device__ float next(float x) { return x + 10; }
using two = float (*)(float, float);
__device__ float less(float a, float b) { return a - b; }
template <two F> __device__ float twice(float v) { return F(F(v, 2), 3); }
template <class F> __device__ float applied(float v, F f) { return f(v, v) + f(1, v); }
struct Turned {
    float a, b;
    __device__ Turned(float x, float y) { a = y; b = x; }
};
struct Told {
    float a = 5, b = 2 * 3;
    int c;
    Told() = default;
    __device__ ~Told() { a = -1000; }
    __device__ Told(int v) : c(v) {}
    __device__ Told(float v) : b(v), c(9) {}
};
struct Plain { float a = 4; float b; };
__device__ Turned turned(float v) { return {v, 2 * v}; }

__global__ void special(const float *x, float *y, int *z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        Turned t = turned(x[i]), s = Turned{x[i], 7};
        y[i] = poly<3>(x[i]) + next(x[i]) + twice<less>(x[i]) + t.a * 3 + s.b * 5 + made<float, int>(i);
        y[i] += applied(x[i], less) + applied(x[i], [=](float p, float q) { return p * q + n; });
        Told d, e(i), f(x[i]), g{};
        Plain p{}, q{x[i]}, r;
        d.c = 1;
        r.b = 2;
        y[i] += d.a + d.b + d.c + 10 * (e.a + e.b + e.c) + 100 * (f.a + f.b + f.c) + g.a + g.b;
        y[i] += p.a + p.b + 20 * (q.a + q.b) + r.a * r.b;
        z[i] = next(i) + made<int, float>(x[i]);
    }
}
