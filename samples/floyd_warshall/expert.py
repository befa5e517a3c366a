"""Hand-written twin of floyd_warshall."""

import jax
import jax.numpy as jnp


@jax.jit
def floyd_warshall(dist):
    """All-pairs shortest paths; dist[i, j] is the weight of edge i -> j."""
    n = dist.shape[0]

    def step(k, dist):
        return jnp.minimum(dist, dist[:, k, None] + dist[None, k, :])

    return jax.lax.fori_loop(0, n, step, dist)
