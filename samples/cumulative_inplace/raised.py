"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def cumulative_inplace(a, peak):
    """Running sum of each row in place, and the running maximum of that sum.

    a[i, j] = a[i, 0] + cumsum_j(a[i, j])  for 0 <= i < rows, 1 <= j < cols
    peak[i, j] = cummax_j(a[i, j])  for 0 <= i < rows, 0 <= j < cols
    """
    rows, cols = a.shape
    a = jnp.cumsum(a, axis=1)  # kernel.py:10
    peak = peak.at[:rows, :cols].set(jax.lax.cummax(a, axis=1))  # kernel.py:15
    return a, peak
