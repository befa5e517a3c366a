import math

from numba import cuda


@cuda.jit
def pool_indices(image, pooled, place, size):
    """The largest pixel of each window, and where in the window it lies (the first, row by row)."""
    i, j = cuda.grid(2)
    if i < pooled.shape[0] and j < pooled.shape[1]:
        best = -math.inf
        where = 0
        for a in range(size):
            for b in range(size):
                v = image[i * size + a, j * size + b]
                if v > best:
                    best = v
                    where = a * size + b
        pooled[i, j] = best
        place[i, j] = where


@cuda.jit
def coldest_cell(field, low, row, column):
    """The last of the lowest cells of each layer: later ones win ties."""
    k = cuda.grid(1)
    if k >= field.shape[0]:
        return
    best = field[k, 0, 0]
    r = 0
    c = 0
    for a in range(field.shape[1]):
        for b in range(field.shape[2]):
            if field[k, a, b] <= best:
                best = field[k, a, b]
                r = a
                c = b
    low[k] = best
    row[k] = r
    column[k] = c
