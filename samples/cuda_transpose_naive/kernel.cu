// out (cols x rows) = in^T (rows x cols)
__global__ void transpose_naive(float *out, const float *in, const unsigned cols, const unsigned rows) {
    const unsigned x = __umul24(blockIdx.x, blockDim.x) + threadIdx.x;
    const unsigned y = __umul24(blockIdx.y, blockDim.y) + threadIdx.y;
    if (x < cols && y < rows) out[x * rows + y] = in[y * cols + x];
}
