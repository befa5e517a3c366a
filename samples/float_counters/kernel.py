import math

from numba import cuda


@cuda.jit
def exposure(rate, dose):
    """Dose over one second in steps of a tenth: eleven steps, since ten tenths are less than one in double precision."""
    i = cuda.grid(1)
    if i < dose.size:
        t = 0.0
        total = 0.0
        while t < 1.0:
            total += rate[i] * math.exp(-t)
            t += 0.1
        dose[i] = total


@cuda.jit
def cooled(x, y):
    """Steps that shrink as the temperature falls; the temperature is tested last."""
    i = cuda.grid(1)
    if i < y.size:
        v = x[i]
        heat = 4.0
        while True:
            v -= 0.1 * heat * math.sin(v)
            heat *= 0.7
            if heat < 0.05:
                break
        y[i] = v
