import math

from numba import cuda


@cuda.jit
def pairwise_distance(points, dist):
    """Euclidean distance between every two rows of ``points``."""
    i, j = cuda.grid(2)
    n, d = points.shape
    if i < n and j < n:
        acc = 0.0
        for k in range(d):
            diff = points[i, k] - points[j, k]
            acc += diff * diff
        # the diagonal is zero: no square root is taken there
        if i != j:
            dist[i, j] = math.sqrt(acc)
        else:
            dist[i, j] = 0.0
