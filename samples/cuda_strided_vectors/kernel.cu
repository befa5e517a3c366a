// Vectors with a stride and an offset, over a grid whose rows of blocks make one long line.

__device__ int line_index() {
    return (blockIdx.x + blockIdx.y * gridDim.x) * blockDim.x + threadIdx.x;
}

__global__ void axpy(int n, float alpha, const float *x, int offx, int incx, float *y, int offy, int incy) {
    int i = line_index();
    if (i < n) y[offy + i * incy] += alpha * x[offx + i * incx];
}

__global__ void leaky(float *x, int n) {
    int i = line_index();
    if (i < n) x[i] = x[i] > 0 ? x[i] : 0.1f * x[i];
}
