from numba import cuda


@cuda.jit
def reverse_interleave(a, b, out):
    """Even elements come from ``a`` read backwards, odd ones from every third element of ``b``."""
    i = cuda.grid(1)
    n = a.shape[0]
    if i < n:
        out[2 * i] = a[n - 1 - i]
        out[2 * i + 1] = b[3 * i + 1]
