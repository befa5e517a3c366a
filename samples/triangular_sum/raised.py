"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def triangular_sum(a, below, pairs):
    """Sum of each row left of the diagonal, and the sum over later pairs of a vector-like diagonal.

    below[i] = sum_(0 <= j < n - 1 where j < i) a[i, j]  for 0 <= i < n
    pairs[i] = sum_(1 <= j < n where j >= i + 1) a[i, i] * a[j, j]  for 0 <= i < n
    """
    n = a.shape[0]
    below = below.at[:n].set(
        jnp.sum(jnp.tril(a[:, : max(n - 1, 0)], -1), axis=1)
    )  # kernel.py:12
    pairs = pairs.at[:n].set(
        jnp.diagonal(a)
        * jnp.pad(jnp.flip(jnp.cumsum(jnp.flip(1.0 * jnp.diagonal(a)[1:]))), (0, 1))[:n]
    )  # kernel.py:17
    return below, pairs
