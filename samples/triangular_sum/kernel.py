from numba import njit


@njit
def triangular_sum(a, below, pairs):
    """Sum of each row left of the diagonal, and the sum over later pairs of a vector-like diagonal."""
    n = a.shape[0]
    for i in range(n):
        s = 0.0
        for j in range(i):
            s += a[i, j]
        below[i] = s
    for i in range(n):
        s = 0.0
        for j in range(i + 1, n):
            s += a[i, i] * a[j, j]
        pairs[i] = s
