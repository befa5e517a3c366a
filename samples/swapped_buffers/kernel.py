"""Buffers that change places within a kernel: a rod that cools by a cooperative launch, a ring that is smoothed."""

from numba import cuda


@cuda.jit
def cool_rod(hot, cold, rounds, k):
    cell = cuda.grid(1)
    grid = cuda.cg.this_grid()
    for r in range(rounds):
        # even rounds read the first buffer, odd rounds the second
        if (r % 2) == 0:
            now = hot
            later = cold
        else:
            now = cold
            later = hot
        if 0 < cell < now.size - 1:
            later[cell] = now[cell] + k * (now[cell - 1] - 2.0 * now[cell] + now[cell + 1])
        grid.sync()


@cuda.jit
def smooth_ring(a, b, out, n, rounds):
    i = cuda.threadIdx.x
    src, dst = a, b
    for _ in range(rounds):
        if i < n:
            dst[i] = 0.25 * (src[(i + n - 1) % n] + 2.0 * src[i] + src[(i + 1) % n])
        cuda.syncthreads()
        src, dst = dst, src
    if i < n:
        out[i] = src[i]
