import math

from numba import cuda


@cuda.jit
def nearest_in_list(begin, cand, x, dist, who):
    """The nearest of each point's candidates, and how far it is; -1 where there are none."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        best = math.inf
        arg = -1
        for p in range(begin[i], begin[i + 1]):
            d = abs(x[cand[p]] - x[i])
            if d < best:
                best = d
                arg = cand[p]
        dist[i] = best
        who[i] = arg
