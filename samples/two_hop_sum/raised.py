"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def two_hop_sum(ptr, nbr, w, x, y):
    """y = A (A x), row by row

    y[i] = sum_(ptr[i] <= k < ptr[i + 1]) w[k] * t  for 0 <= i < y.shape[0]

    ptr must not decrease
    """
    n = nbr.shape[0]
    m = w.shape[0]
    y_size = y.shape[0]
    ptr_size = ptr.shape[0]
    length = min(n, m)
    row = jnp.cumsum(jnp.bincount(ptr, length=length)) - 1
    row_2 = jnp.cumsum(jnp.bincount(ptr[: y_size + 1], length=length)) - 1
    inside = (row >= 0) & (row < ptr_size - 1)
    t = jax.ops.segment_sum(
        1.0 * jnp.where(inside, w[:length], 0) * x[nbr[:length]],
        row,
        ptr_size - 1,
        indices_are_sorted=True,
    )  # kernel.py:13
    inside_2 = (row_2 >= 0) & (row_2 < y_size)
    totals = jax.ops.segment_sum(
        jnp.where(inside_2, w[:length], 0) * t[nbr[:length]],
        row_2,
        y_size,
        indices_are_sorted=True,
    )
    return totals.astype(y.dtype)  # kernel.py:16
