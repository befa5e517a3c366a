"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def kmeans_assign(points, centres, label, cost):
    """Nearest centre of each point; of equal distances the first centre wins.

    label[i] = argmin_c(sum_k t * t) if min_c(sum_k t * t) < 1e+30 else 0  for 0 <= i < points.shape[0]
    cost[i] = min(1e+30, min_c(sum_k t * t))  for 0 <= i < points.shape[0]
    """
    rows, cols = points.shape
    t = points[:, None] - centres[:, :cols]  # kernel.py:14
    d = jnp.sum(t * t, axis=2)  # kernel.py:13
    smallest = d.min(axis=1, initial=jnp.inf)
    arg = jnp.where(
        smallest < 1e30,
        d.argmin(axis=1) if centres.shape[0] > 0 else jnp.zeros(rows, int),
        0,
    )  # kernel.py:11
    label = label.at[:rows].set(arg.astype(label.dtype))  # kernel.py:19
    best = jnp.minimum(1e30, smallest)  # kernel.py:11
    cost = cost.at[:rows].set(best)  # kernel.py:20
    return label, cost
