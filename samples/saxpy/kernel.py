from numba import cuda


@cuda.jit
def saxpy(n, a, x, y):
    """y <- a * x + y for the first n elements (BLAS level 1)."""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < n:
        y[i] = a * x[i] + y[i]
