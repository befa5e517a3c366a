"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def frontier_step(ptr, adj, active, reached, edges, level):
    """One step of a breadth-first search: the neighbours of what is active are reached, and counted by node.

    reached[adj[k]] = level + 1
        for 0 <= node < active.shape[0], 0 <= k < adj.shape[0], where active[node] == level and k >= ptr[node] and k < ptr[node + 1]
    edges[adj[k]] += sum_(node where active[node] == level and k >= ptr[node] and k < ptr[node + 1]) 1
        for 0 <= k < adj.shape[0]

    ptr must not decrease
    """
    n = active.shape[0]
    row = jnp.cumsum(jnp.bincount(ptr[: n + 1], length=adj.shape[0])) - 1
    both = (row >= 0) & (row < n) & (active[row] == level)
    reached = reached.at[jnp.where(both, adj.astype(int), reached.shape[0])].set(
        level + 1, mode="drop"
    )  # kernel.py:10
    edges = edges.at[jnp.where(both, adj.astype(int), edges.shape[0])].add(
        1, mode="drop"
    )  # kernel.py:11
    return reached, edges
