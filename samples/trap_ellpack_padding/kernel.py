import math

from numba import cuda


@cuda.jit
def ellpack_padding(y, val, col, x):
    """Sparse rows of different lengths, padded: what stands in the padding is nobody's business."""
    r = cuda.grid(1)
    if r < y.shape[0]:
        s = 0.0
        for k in range(val.shape[1]):
            c = col[r, k]
            if c >= 0:
                s += val[r, k] * x[c]
        y[r] = s
