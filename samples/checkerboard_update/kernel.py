from numba import cuda


@cuda.jit
def checkerboard_update(spin, field, parity, beta):
    """Mean-field update of one colour of a chequerboard; the other colour keeps its value."""
    i, j = cuda.grid(2)
    h, w = spin.shape
    if i < h and j < w and (i + j) % 2 == parity:
        spin[i, j] = (1.0 - beta) * spin[i, j] + beta * field[i, j]
