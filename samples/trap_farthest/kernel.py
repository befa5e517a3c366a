import math

from numba import cuda


@cuda.jit
def farthest(reach, p, n):
    """The distance of each point to the farthest of all: its own, zero, is among those passed over."""
    i = cuda.grid(1)
    if i < n:
        most = 0.0
        for j in range(n):
            dx = p[i, 0] - p[j, 0]
            dy = p[i, 1] - p[j, 1]
            d = math.sqrt(dx * dx + dy * dy)
            if d > most:
                most = d
        reach[i] = most
