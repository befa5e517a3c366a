from numba import cuda


@cuda.jit
def grid_stride_2d(a, b, out):
    """Hadamard product with strides in both directions, spelled without cuda.grid."""
    x0 = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    y0 = cuda.threadIdx.y + cuda.blockIdx.y * cuda.blockDim.y
    sx = cuda.blockDim.x * cuda.gridDim.x
    sy = cuda.blockDim.y * cuda.gridDim.y
    rows, cols = out.shape
    for i in range(y0, rows, sy):
        for j in range(x0, cols, sx):
            out[i, j] = a[i, j] * b[i, j]
