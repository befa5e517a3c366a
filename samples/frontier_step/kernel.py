from numba import cuda


@cuda.jit
def frontier_step(ptr, adj, active, reached, edges, level):
    """One step of a breadth-first search: the neighbours of what is active are reached, and counted by node."""
    node = cuda.grid(1)
    if node < active.shape[0] and active[node] == level:
        for k in range(ptr[node], ptr[node + 1]):
            reached[adj[k]] = level + 1
            cuda.atomic.add(edges, adj[k], 1)
