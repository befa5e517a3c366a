"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def extrema(x, bucket, high, low, size, n):
    """high[bucket[i]] = max(high[bucket[i]], x[i])  for 0 <= i < n
    low[bucket[i]] = min(low[bucket[i]], x[i])  for 0 <= i < n
    size[0] = max(size[0], max_i(abs(x[i])))
    """
    at_offset = bucket[:n]  # kernel.cu:21
    v = x[:n]
    high = high.at[at_offset].max(v)  # kernel.cu:5
    low = low.at[at_offset].min(v)  # kernel.cu:14
    size = size.at[0].set(
        jnp.maximum(size[0], jnp.max(jnp.abs(v))) if n > 0 else size[0]
    )  # kernel.cu:23
    return high, low, size


@partial(jax.jit, static_argnames=("rows", "cols"))
def column_max(x, high, rows, cols):
    """high[c] = max(high[c], max_r(x[r, c]))  for 0 <= c < cols"""
    x2 = x[: rows * cols].reshape(rows, cols)
    return high.at[:cols].set(
        jnp.maximum(high[:cols], x2.max(axis=0)) if rows > 0 else high[:cols]
    )  # kernel.cu:33
