// y = a x + y in double, with a grid-stride loop over size_t
__global__ void daxpy(unsigned int n, double a, const double *__restrict__ x, double *__restrict__ y) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)blockDim.x * gridDim.x) {
        y[i] = a * x[i] + y[i];
    }
}
