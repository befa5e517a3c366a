struct cplx {
    float re;
    float im;
};

__device__ cplx operator*(cplx a, cplx b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
__device__ cplx operator+(cplx a, cplx b) { return {a.re + b.re, a.im + b.im}; }

// spectrum = spectrum * filter + offset, element by element
__global__ void filter_spectrum(cplx *spectrum, const cplx *filter, cplx offset, int n) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) spectrum[k] = spectrum[k] * filter[k] + offset;
}
