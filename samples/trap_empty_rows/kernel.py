import math

from numba import cuda


@cuda.jit
def empty_rows(out, x, scale, length):
    """Logarithm of a scaled sum of exponentials of the first entries of each row; of none of them for an empty row."""
    r = cuda.grid(1)
    if r < out.shape[0]:
        s = 0.0
        for c in range(x.shape[1]):
            if c < length[r]:
                s += math.exp(x[r, c])
        if length[r] > 0:
            out[r] = math.log(scale[r] * s)
        else:
            out[r] = 0.0
