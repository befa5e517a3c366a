from numba import cuda


@cuda.jit
def scatter_rows(start, target, flow, level, inflow):
    """Each node pushes what it holds along its edges."""
    node = cuda.grid(1)
    if node < level.shape[0]:
        share = level[node] / max(start[node + 1] - start[node], 1)
        for e in range(start[node], start[node + 1]):
            if flow[e] > 0.0:
                cuda.atomic.add(inflow, target[e], share * flow[e])
