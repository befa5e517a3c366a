"""Recurrences over the two rounds before, in the cells of the output."""

from numba import cuda


@cuda.jit
def resonator(x, y, r, c):
    """y[k] = c y[k-1] - r y[k-2] + x[k], one channel a thread"""
    ch = cuda.grid(1)
    if ch < y.shape[0]:
        for k in range(2, y.shape[1]):
            y[ch, k] = c * y[ch, k - 1] - r * y[ch, k - 2] + x[ch, k]


def chebyshev(x, T):
    """Chebyshev polynomials of the first kind, one row an order."""
    for i in range(x.shape[0]):
        T[0, i] = 1.0
        T[1, i] = x[i]
        for n in range(2, T.shape[0]):
            T[n, i] = 2.0 * x[i] * T[n - 1, i] - T[n - 2, i]
