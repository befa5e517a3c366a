import math

from numba import cuda


@cuda.jit
def signed_power(y, x, p):
    """``sign(x) * abs(x)**p``: each branch sees bases that the other may not."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        v = x[i]
        if v > 0.0:
            y[i] = v ** p[i]
        elif v < 0.0:
            y[i] = -((-v) ** p[i])
        else:
            y[i] = 0.0
