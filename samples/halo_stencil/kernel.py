from numba import cuda, float32

BLOCK = 8
RADIUS = 2


@cuda.jit
def halo_stencil(x, weight, y, n):
    """a filter over the block's cells and those beside it"""
    cells = cuda.shared.array(BLOCK + 2 * RADIUS, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * BLOCK + t
    cells[t + RADIUS] = x[i] if i < n else 0.0
    if t < RADIUS:
        cells[t] = x[i - RADIUS] if i >= RADIUS else 0.0
        cells[t + BLOCK + RADIUS] = x[i + BLOCK] if i + BLOCK < n else 0.0
    cuda.syncthreads()
    if i < n:
        acc = 0.0
        for k in range(2 * RADIUS + 1):
            acc += weight[k] * cells[t + k]
        y[i] = acc
