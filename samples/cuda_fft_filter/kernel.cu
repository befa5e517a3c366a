// Convolution with a kernel of the same length: forward transforms, a product, and the transform back
#include <cufft.h>

__global__ void multiply(cufftComplex *signal, const cufftComplex *filter, float scale, int n) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        cufftComplex s = signal[i], f = filter[i];
        signal[i].x = scale * (s.x * f.x - s.y * f.y);
        signal[i].y = scale * (s.x * f.y + s.y * f.x);
    }
}

void convolve(float *signal, const float *filter, int n) {
    int bins = n / 2 + 1;
    cufftComplex *spectrum, *response;
    cudaMalloc((void **)&spectrum, bins * sizeof(cufftComplex));
    cudaMalloc((void **)&response, bins * sizeof(cufftComplex));
    cufftHandle forward, inverse;
    cufftPlan1d(&forward, n, CUFFT_R2C, 1);
    cufftPlan1d(&inverse, n, CUFFT_C2R, 1);
    cufftExecR2C(forward, signal, spectrum);
    cufftExecR2C(forward, filter, response);
    multiply<<<32, 256>>>(spectrum, response, 1.0f / n, bins);
    cufftExecC2R(inverse, spectrum, signal);
    cufftDestroy(forward);
    cufftDestroy(inverse);
    cudaFree(spectrum);
    cudaFree(response);
}
