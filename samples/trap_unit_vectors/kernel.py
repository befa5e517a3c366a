import math

from numba import cuda


@cuda.jit
def unit_vectors(u, x):
    """Directions; the zero vector stays as it is."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        n = math.sqrt(x[i, 0] ** 2 + x[i, 1] ** 2 + x[i, 2] ** 2)
        if n > 1e-3:
            for c in range(3):
                u[i, c] = x[i, c] / n
        else:
            for c in range(3):
                u[i, c] = x[i, c]
