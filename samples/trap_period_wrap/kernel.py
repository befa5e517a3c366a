import math

from numba import cuda


@cuda.jit
def period_wrap(y, x, period):
    """Positions folded into their period; period 0 means an axis without one."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        if period[i] > 0.0:
            y[i] = math.fmod(x[i], period[i]) / period[i]
        else:
            y[i] = x[i]
