"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Shortest paths between all pairs of nodes: Floyd's algorithm in place, a launch for each node on the way.
"""

import jax
import jax.numpy as jnp


def checkpointed_loop(start, stop, step, state):
    """``fori_loop`` whose rounds the gradient runs again; in segments of sqrt(n) rounds, where all states are many."""
    step = jax.checkpoint(step, prevent_cse=False)
    rounds = max(stop - start, 0)
    few = 2**22 if jax.default_backend() == "cpu" else 2**28
    if rounds * sum(map(jnp.size, jax.tree.leaves(state))) <= few:
        return jax.lax.fori_loop(start, stop, step, state)
    size = max(int(rounds**0.5), 1)

    def segment(k, state):
        first = start + k * size
        return jax.lax.fori_loop(0, size, lambda r, s: step(first + r, s), state)

    segment = jax.checkpoint(segment, prevent_cse=False)
    state = jax.lax.fori_loop(0, rounds // size, segment, state)
    return jax.lax.fori_loop(start + rounds // size * size, stop, step, state)


@jax.jit
def relax(dist, k):
    """Paths that may go through node k.

    dist[i, j] = min(dist[i, j], dist[i, k] + dist[k, j])  for 0 <= i < n, 0 <= j < n

    dist[k, k] must not be negative
    """
    n = dist.shape[0]
    if n == 0:
        return dist
    return dist.at[:, :n].set(
        jnp.minimum(dist[:, :n], dist[:, k, None] + dist[k, :n])
    )  # kernel.py:14


@jax.jit
def shortest_paths(dist):
    """the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    n = dist.shape[0]

    def step(k, d):
        return relax(d, k)  # kernel.py:21

    return checkpointed_loop(0, n, step, dist)  # kernel.py:20
