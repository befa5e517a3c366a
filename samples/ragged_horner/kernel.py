from numba import cuda


@cuda.jit
def ragged_horner(ptr, c, x, y):
    """A polynomial of its own degree for each point: the rows are run side by side, to the longest."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        value = 0.0
        for k in range(ptr[i], ptr[i + 1]):
            value = value * x[i] + c[k]
        y[i] = value
