"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def row_flags(a, limit, count, any_neg, all_small):
    """For each row: how many entries exceed the limit, is one negative, are all small.

    count[i] = sum_(j where a[i, j] > limit) 1  for 0 <= i < a.shape[0]
    any_neg[i] = any_j(a[i, j] < 0.0)  for 0 <= i < a.shape[0]
    all_small[i] = all_j(a[i, j] < 2.0 * limit)  for 0 <= i < a.shape[0]
    """
    rows = a.shape[0]
    count = count.at[:rows].set(
        jnp.sum(a > limit, axis=1).astype(count.dtype)
    )  # kernel.py:18
    any_neg = any_neg.at[:rows].set(jnp.any(a < 0.0, axis=1))  # kernel.py:19
    all_small = all_small.at[:rows].set(
        jnp.all(a < 2.0 * limit, axis=1)
    )  # kernel.py:20
    return count, any_neg, all_small
