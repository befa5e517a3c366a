"""Element-wise square, the smallest kernel there is."""

from numba import cuda


@cuda.jit
def square(y, x):
    i = cuda.grid(1)
    y[i] = x[i] * x[i]
