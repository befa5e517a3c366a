import math

from numba import cuda


@cuda.jit
def repeated_knots(y, xq, xs, ys):
    """Piecewise linear interpolation through points two of which share a place: a jump."""
    i = cuda.grid(1)
    if i < xq.shape[0]:
        q = xq[i]
        k = 0
        for j in range(xs.shape[0] - 1):
            if xs[j] <= q:
                k = j
        h = xs[k + 1] - xs[k]
        if h > 0.0:
            t = (q - xs[k]) / h
            y[i] = (1.0 - t) * ys[k] + t * ys[k + 1]
        else:
            y[i] = ys[k]
