"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

UNREACHED = 1000000


@partial(jax.jit, static_argnames="edges")
def relax(from_, to, weight, dist, next, edges):
    """
    next[to[e]] = min(next[to[e]], dist[from[e]] + weight[e])
        for 0 <= e < edges, where dist[from[e]] != UNREACHED
    """
    reached = dist[from_[:edges]]  # kernel.cu:7
    return next.at[to[:edges]].min(
        jnp.where(
            reached != UNREACHED, reached + weight[:edges], jnp.iinfo(jnp.int32).max
        )
    )  # kernel.cu:10
