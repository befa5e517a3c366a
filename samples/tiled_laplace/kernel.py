from numba import cuda, float32

TPB = 4


@cuda.jit
def stencil2d(a, b):
    """the mean of the four neighbours, from a tile with its border"""
    s = cuda.shared.array((TPB + 2, TPB + 2), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    j = cuda.blockIdx.x * TPB + tx
    i = cuda.blockIdx.y * TPB + ty
    if i < a.shape[0] and j < a.shape[1]:
        s[ty + 1, tx + 1] = a[i, j]
        if ty == 0 and i > 0:
            s[0, tx + 1] = a[i - 1, j]
        if ty == TPB - 1 and i + 1 < a.shape[0]:
            s[TPB + 1, tx + 1] = a[i + 1, j]
        if tx == 0 and j > 0:
            s[ty + 1, 0] = a[i, j - 1]
        if tx == TPB - 1 and j + 1 < a.shape[1]:
            s[ty + 1, TPB + 1] = a[i, j + 1]
    cuda.syncthreads()
    if i > 0 and i < a.shape[0] - 1 and j > 0 and j < a.shape[1] - 1:
        b[i, j] = 0.25 * (s[ty, tx + 1] + s[ty + 2, tx + 1] + s[ty + 1, tx] + s[ty + 1, tx + 2])
