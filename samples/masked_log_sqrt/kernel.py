import math

from numba import cuda


@cuda.jit
def masked_log_sqrt(x, logs, roots, ratios, floor):
    """Logarithm, root and reciprocal where they exist, a floor value elsewhere."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        v = x[i]
        if v > 0.0:
            logs[i] = math.log(v)
            roots[i] = math.sqrt(v)
        else:
            logs[i] = floor
            roots[i] = 0.0
        ratios[i] = 1.0 / v if v != 0.0 else floor
