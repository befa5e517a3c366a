from numba import njit


@njit
def cumulative_inplace(a, peak):
    """Running sum of each row in place, and the running maximum of that sum."""
    rows, cols = a.shape
    for i in range(rows):
        for j in range(1, cols):
            a[i, j] += a[i, j - 1]
    for i in range(rows):
        top = a[i, 0]
        for j in range(cols):
            top = max(top, a[i, j])
            peak[i, j] = top
