"""Shortest paths between all pairs of nodes: Floyd's algorithm in place, a launch for each node on the way."""

from numba import cuda


@cuda.jit
def relax(dist, k):
    """Paths that may go through node k."""
    i, j = cuda.grid(2)
    n = dist.shape[0]
    if i < n and j < n:
        via = dist[i, k] + dist[k, j]
        if via < dist[i, j]:
            dist[i, j] = via


def shortest_paths(dist):
    n = dist.shape[0]
    d = cuda.to_device(dist)
    for k in range(n):
        relax[((n + 15) // 16, (n + 15) // 16), (16, 16)](d, k)
    return d.copy_to_host()
