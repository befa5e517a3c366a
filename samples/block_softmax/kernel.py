import math

from numba import cuda, float32


@cuda.jit
def softmax(x, y):
    """one block a row: two trees"""
    s = cuda.shared.array(256, float32)
    r = cuda.blockIdx.x
    t = cuda.threadIdx.x
    m = -math.inf
    for c in range(t, x.shape[1], cuda.blockDim.x):
        m = max(m, x[r, c])
    s[t] = m
    cuda.syncthreads()
    w = cuda.blockDim.x // 2
    while w > 0:
        if t < w:
            s[t] = max(s[t], s[t + w])
        cuda.syncthreads()
        w //= 2
    m = s[0]
    cuda.syncthreads()
    acc = 0.0
    for c in range(t, x.shape[1], cuda.blockDim.x):
        e = math.exp(x[r, c] - m)
        y[r, c] = e
        acc += e
    s[t] = acc
    cuda.syncthreads()
    w = cuda.blockDim.x // 2
    while w > 0:
        if t < w:
            s[t] += s[t + w]
        cuda.syncthreads()
        w //= 2
    total = s[0]
    for c in range(t, x.shape[1], cuda.blockDim.x):
        y[r, c] = y[r, c] / total
