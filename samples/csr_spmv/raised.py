"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def csr_spmv(indptr, indices, data, x, y):
    """y = A x, A in compressed sparse rows

    y[row] = sum_(indptr[row] <= k < indptr[row + 1]) data[k] * x[indices[k]]  for 0 <= row < y.shape[0]

    indptr must not decrease
    """
    n = indices.shape[0]
    m = data.shape[0]
    y_size = y.shape[0]
    length = min(n, m)
    row = jnp.cumsum(jnp.bincount(indptr[: y_size + 1], length=length)) - 1
    inside = (row >= 0) & (row < y_size)
    dot = jax.ops.segment_sum(
        1.0 * jnp.where(inside, data[:length], 0) * x[indices[:length]],
        row,
        y_size,
        indices_are_sorted=True,
    )  # kernel.py:10
    return dot.astype(y.dtype)  # kernel.py:12
