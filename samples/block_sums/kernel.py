import math

from numba import cuda, float32


@cuda.jit
def block_sums(x, partial, n):
    """each block sums its part of x"""
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + t
    s[t] = x[i] if i < n else 0.0
    cuda.syncthreads()
    w = cuda.blockDim.x // 2
    while w > 0:
        if t < w:
            s[t] += s[t + w]
        cuda.syncthreads()
        w //= 2
    if t == 0:
        partial[cuda.blockIdx.x] = s[0]


@cuda.jit
def sum_of_squares(x, out):
    """all blocks add to one cell; strides that double"""
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < x.shape[0]:
        s[t] = x[i] * x[i]
    else:
        s[t] = 0.0
    cuda.syncthreads()
    w = 1
    while w < cuda.blockDim.x:
        if t % (2 * w) == 0:
            s[t] += s[t + w]
        cuda.syncthreads()
        w *= 2
    if t == 0:
        cuda.atomic.add(out, 0, s[0])


@cuda.jit
def mean_of(x, out, n):
    """a grid-stride loop, then a tree"""
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    acc = 0.0
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        acc += x[i] / n
    s[t] = acc
    cuda.syncthreads()
    w = cuda.blockDim.x >> 1
    while w > 0:
        if t < w:
            s[t] += s[t + w]
        cuda.syncthreads()
        w >>= 1
    if t == 0:
        cuda.atomic.add(out, 0, s[0])


@cuda.jit
def row_largest(x, out):
    """one block a row: the largest of it, by a tree"""
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    r = cuda.blockIdx.x
    best = -math.inf
    for c in range(t, x.shape[1], cuda.blockDim.x):
        best = max(best, x[r, c])
    s[t] = best
    cuda.syncthreads()
    w = cuda.blockDim.x // 2
    while w >= 1:
        if t < w:
            s[t] = max(s[t], s[t + w])
        cuda.syncthreads()
        w = w // 2
    if t == 0:
        out[r] = s[0]
