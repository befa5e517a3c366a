from numba import cuda

FULL = 0xFFFFFFFF


@cuda.jit(device=True)
def warp_sum(v):
    d = 16
    while d > 0:
        v += cuda.shfl_down_sync(FULL, v, d)
        d //= 2
    return v


@cuda.jit
def moments(x, out, n):
    """the sum and the sum of squares; one lane of each warp adds"""
    i = cuda.grid(1)
    v = 0.0
    if i < n:
        v = x[i]
    total = warp_sum(v)
    squares = warp_sum(v * v)
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, total)
        cuda.atomic.add(out, 1, squares)


@cuda.jit
def positives(x, out, n):
    """how many are positive, by ballots"""
    i = cuda.grid(1)
    p = False
    if i < n:
        p = x[i] > 0.0
    bits = cuda.ballot_sync(FULL, p)
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, cuda.popc(bits))


@cuda.jit
def from_first(x, y):
    """each element less the first of its warp"""
    i = cuda.grid(1)
    y[i] = x[i] - cuda.shfl_sync(FULL, x[i], 0)


@cuda.jit
def flags(x, y, limit):
    """1 where some lane of the warp is above the limit, 2 where all are"""
    i = cuda.grid(1)
    above = x[i] > limit
    some = cuda.any_sync(FULL, above)
    every = cuda.all_sync(FULL, above)
    if cuda.threadIdx.x % cuda.warpsize == 0:
        y[i // cuda.warpsize] = (1 if some else 0) + (1 if every else 0)
