import math

from numba import cuda


@cuda.jit
def polar_origin(r, theta, x, y):
    """Polar coordinates; the origin has none."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        if x[i] * x[i] + y[i] * y[i] < 1e-9:
            r[i] = 0.0
            theta[i] = 0.0
        else:
            r[i] = math.hypot(x[i], y[i])
            theta[i] = math.atan2(y[i], x[i])
