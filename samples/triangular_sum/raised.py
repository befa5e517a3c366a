"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def triangular_sum(a, below, pairs):
    """Sum of each row left of the diagonal, and the sum over later pairs of a vector-like diagonal.

    below[i] = sum_(0 <= j < a.shape[0] - 1 where j < i) a[i, j]  for 0 <= i < a.shape[0]
    pairs[i] = sum_(1 <= j < a.shape[0] where j >= i + 1) a[i, i] * a[j, j]  for 0 <= i < a.shape[0]
    """
    rows = a.shape[0]
    below = below.at[:rows].set(
        jnp.sum(jnp.tril(a[:, : max(rows - 1, 0)], -1), axis=1)
    )  # kernel.py:12
    j = jnp.arange(1, rows)
    i = jnp.arange(rows)
    pairs = pairs.at[:rows].set(
        jnp.sum(
            jnp.where(j >= i[:, None] + 1, a[i[:, None], i[:, None]] * a[j, j], 0),
            axis=1,
        )
    )  # kernel.py:17
    return below, pairs
