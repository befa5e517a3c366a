from numba import cuda


@cuda.jit
def row_extrema(a, low, low_at, high, high_at):
    """Smallest and largest entry of each row and where; the last of equal maxima is kept."""
    r = cuda.grid(1)
    if r < a.shape[0]:
        lo = a[r, 0]
        hi = a[r, 0]
        lo_at = 0
        hi_at = 0
        for c in range(1, a.shape[1]):
            v = a[r, c]
            if v < lo:
                lo = v
                lo_at = c
            if v >= hi:
                hi = v
                hi_at = c
        low[r] = lo
        low_at[r] = lo_at
        high[r] = hi
        high_at[r] = hi_at
