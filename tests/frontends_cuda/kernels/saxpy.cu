__global__ void saxpy(int n, double a, const double * __restrict__ x, double * __restrict__ y) {
    int i = threadIdx.x+blockDim.x*blockIdx.x;
    if (i >= n) return;
    y[i] += a*x[i];
}
