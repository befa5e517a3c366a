"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def pagerank(entry, edge, rank, degree, next, n, damping):
    """one step of PageRank; the edges that end in v are entry[v] .. entry[v + 1]

    next[v] = (1.0 - damping) / n + damping * sum  for 0 <= v < n

    entry must not decrease
    """
    m = edge.source.shape[0]
    weight_size = edge.weight.shape[0]
    length = min(m, weight_size)
    row = jnp.cumsum(jnp.bincount(entry[: n + 1], length=length)) - 1
    inside = (row >= 0) & (row < n)
    in_source = edge.source[:length]  # kernel.cu:14
    sum = jax.ops.segment_sum(
        jnp.where(inside, rank[in_source], 0.0)
        * edge.weight[:length]
        / jnp.where(inside, degree[in_source].astype(jnp.float32), 1.0),
        row,
        n,
        indices_are_sorted=True,
    )  # kernel.cu:13
    return next.at[:n].set(
        (1.0 - damping) / jnp.asarray(n, jnp.float32) + damping * sum
    )  # kernel.cu:18
