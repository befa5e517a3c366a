from numba import cuda, float32


@cuda.jit
def block_scan(x, y, n):
    """running sums within each block (Hillis and Steele)"""
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < n else 0.0
    cuda.syncthreads()
    w = 1
    while w < cuda.blockDim.x:
        v = 0.0
        if t >= w:
            v = s[t - w]
        cuda.syncthreads()
        s[t] += v
        cuda.syncthreads()
        w *= 2
    if i < n:
        y[i] = s[t]
