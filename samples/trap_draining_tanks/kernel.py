import math

from numba import cuda


@cuda.jit
def draining_tanks(y, level, rate):
    """Torricelli's law, step by step; a tank that has run dry (or overdrawn) is left alone."""
    i = cuda.grid(1)
    if i < level.shape[0]:
        v = level[i]
        for t in range(12):
            if v <= 0.0:
                break
            v = v - rate * math.sqrt(v)
        y[i] = v
