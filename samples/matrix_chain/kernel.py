"""Dynamic programming over intervals: the cheapest way to multiply a chain of matrices."""

from numba import njit


@njit
def matrix_chain(sizes, cost):
    """cost[i, j] is the least number of multiplications for the matrices i to j."""
    n = sizes.shape[0] - 1
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            best = 1e30
            for k in range(i, j):
                c = cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if c < best:
                    best = c
            cost[i, j] = best
