class Foo {
    public: virtual ~Foo() {
    }
    int x;
};
__global__ void goodold(float*a, const int n) {
    const unsigned tid = __mul24(blockIdx.x, blockDim.x)+threadIdx.x;
    if (tid >= (unsigned)n) return;
    a[tid] *= 2;
}
