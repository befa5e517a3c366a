"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def floyd_warshall(dist):
    """All-pairs shortest paths in place; dist[i, j] is the weight of edge i -> j.

    for k = 0 ... n - 1:
        dist[i, j] = min(dist[i, j], dist[i, k] + dist[k, j])  for 0 <= i < n, 0 <= j < n

    dist[k, k] >= 0 for all k
    """
    n = dist.shape[0]
    if n == 0:
        return dist

    def step(k, dist):
        return dist.at[:, :n].set(
            jnp.minimum(dist[:, :n], dist[:, k, None] + dist[k, :n])
        )  # kernel.py:9

    return jax.lax.fori_loop(0, n, step, dist)  # kernel.py:4
