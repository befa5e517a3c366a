from numba import cuda


@cuda.jit
def kmeans_assign(points, centres, label, cost):
    """Nearest centre of each point; of equal distances the first centre wins."""
    i = cuda.grid(1)
    if i < points.shape[0]:
        best = 1e30
        arg = 0
        for c in range(centres.shape[0]):
            d = 0.0
            for k in range(points.shape[1]):
                t = points[i, k] - centres[c, k]
                d += t * t
            if d < best:
                best = d
                arg = c
        label[i] = arg
        cost[i] = best
