from numba import cuda


@cuda.jit
def transpose(a, a_t):
    """Plain transposition, one thread an element of the source."""
    r, c = cuda.grid(2)
    if r < a.shape[0]:
        if c < a.shape[1]:
            a_t[c, r] = a[r, c]
