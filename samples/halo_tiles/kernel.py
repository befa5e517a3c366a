"""Tiles with a rim in shared memory: by the threads at the edges, and by all of them over rows and columns."""

from numba import cuda, float64


@cuda.jit
def relax(u, v):
    """One step of Jacobi's method; the threads at the edges of a block fetch the rim."""
    s = cuda.shared.array((10, 10), float64)
    ny, nx = u.shape
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if x < nx and y < ny:
        s[ty + 1, tx + 1] = u[y, x]
        if tx == 0 and x > 0:
            s[ty + 1, 0] = u[y, x - 1]
        if tx == 7 and x < nx - 1:
            s[ty + 1, 9] = u[y, x + 1]
        if ty == 0 and y > 0:
            s[0, tx + 1] = u[y - 1, x]
        if ty == 7 and y < ny - 1:
            s[9, tx + 1] = u[y + 1, x]
    cuda.syncthreads()
    if 0 < x < nx - 1 and 0 < y < ny - 1:
        v[y, x] = 0.25 * (s[ty + 1, tx] + s[ty + 1, tx + 2] + s[ty, tx + 1] + s[ty + 2, tx + 1])


@cuda.jit
def steepest(u, v):
    """The largest difference to a neighbour; what lies outside is zero."""
    s = cuda.shared.array((10, 10), float64)
    ny, nx = u.shape
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x0, y0 = cuda.blockIdx.x * 8, cuda.blockIdx.y * 8
    for j in range(ty, 10, 8):
        for i in range(tx, 10, 8):
            y, x = y0 + j - 1, x0 + i - 1
            if 0 <= y < ny and 0 <= x < nx:
                s[j, i] = u[y, x]
            else:
                s[j, i] = 0.0
    cuda.syncthreads()
    if x0 + tx < nx and y0 + ty < ny:
        c = s[ty + 1, tx + 1]
        across = max(abs(c - s[ty + 1, tx]), abs(c - s[ty + 1, tx + 2]))
        v[y0 + ty, x0 + tx] = max(across, abs(c - s[ty, tx + 1]), abs(c - s[ty + 2, tx + 1]))
