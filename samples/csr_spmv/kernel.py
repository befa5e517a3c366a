from numba import cuda


@cuda.jit
def csr_spmv(indptr, indices, data, x, y):
    """y = A x, A in compressed sparse rows"""
    row = cuda.grid(1)
    if row < y.shape[0]:
        dot = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            dot += data[k] * x[indices[k]]
        y[row] = dot
