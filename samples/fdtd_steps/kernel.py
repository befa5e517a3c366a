"""Maxwell's equations in two dimensions on a staggered grid: three kernels a time step."""

import math

from numba import cuda


@cuda.jit
def update_hx(hx, ez, c):
    i, j = cuda.grid(2)
    if i < hx.shape[0] and j < hx.shape[1] - 1:
        hx[i, j] -= c * (ez[i, j + 1] - ez[i, j])


@cuda.jit
def update_hy(hy, ez, c):
    i, j = cuda.grid(2)
    if i < hy.shape[0] - 1 and j < hy.shape[1]:
        hy[i, j] += c * (ez[i + 1, j] - ez[i, j])


@cuda.jit
def update_ez(ez, hx, hy, c):
    i, j = cuda.grid(2)
    if 0 < i < ez.shape[0] and 0 < j < ez.shape[1]:
        ez[i, j] += c * (hy[i, j] - hy[i - 1, j] - hx[i, j] + hx[i, j - 1])


def simulate(ez, hx, hy, c, steps):
    nx, ny = ez.shape
    threads = (16, 16)
    blocks = (math.ceil(nx / threads[0]), math.ceil(ny / threads[1]))
    for _ in range(steps):
        update_hx[blocks, threads](hx, ez, c)
        update_hy[blocks, threads](hy, ez, c)
        update_ez[blocks, threads](ez, hx, hy, c)
