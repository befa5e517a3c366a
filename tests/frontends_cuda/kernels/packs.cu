// words of 16 bytes, as a class that is made of the bits of one and hands them out
template <class T> struct Pack {
    static constexpr int size = sizeof(int4) / sizeof(T);
    T cells[size];
    Pack() = default;
    __device__ explicit Pack(int4 bits) { memcpy(&cells, &bits, sizeof(bits)); }
    __device__ static Pack all(T v) { Pack p; for (int k = 0; k < size; k++) p.cells[k] = v; return p; }
    __device__ static Pack ones() { return all((T)1); }
    __device__ T &operator[](int i) { return cells[i]; }
    __device__ const T &operator[](int i) const { return cells[i]; }
    __device__ int4 bits() const { int4 b; memcpy(&b, &cells, sizeof(b)); return b; }
};
template <class T> __device__ Pack<T> loaded(const T *p) { return Pack<T>{*reinterpret_cast<const int4 *>(p)}; }
template <class T> __device__ void stored(T *p, Pack<T> v) { *reinterpret_cast<int4 *>(p) = v.bits(); }
typedef Pack<unsigned short> Narrow;

__global__ void packs(const float *x, float *y, const unsigned short *u, unsigned short *v, unsigned *w, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * Pack<float>::size;
    if (i < n) {
        Pack<float> a = loaded(x + i), b = Pack<float>::ones();
        for (int k = 0; k < a.size; k++) b[k] = b[k] + a[k] * a[k];
        stored(y + i, b);
    }
    int j = (blockIdx.x * blockDim.x + threadIdx.x) * Narrow::size;
    if (j < n) {
        Narrow a = loaded(u + j);
        uint4 raw = *reinterpret_cast<const uint4 *>(u + j);
        for (int k = 0; k < Narrow::size; k++) a[k] += k;
        stored(v + j, a);
        w[j / Narrow::size] = raw.y ^ (raw.w << 3);
    }
}
