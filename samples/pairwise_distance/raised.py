"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def pairwise_distance(points, dist):
    """Euclidean distance between every two rows of ``points``.

    dist[i, j] = sqrt(sum_k diff * diff) if i != j else 0.0  for 0 <= i < n, 0 <= j < n
    """
    n = points.shape[0]
    i_is_j = jnp.eye(n, dtype=bool)
    diff = points[:, None] - points  # kernel.py:14
    safe_acc = jnp.where(i_is_j, 1.0, jnp.sum(diff * diff, axis=2))
    return dist.at[:n, :n].set(
        jnp.where(i_is_j, 0.0, jnp.sqrt(safe_acc))
    )  # kernel.py:20
