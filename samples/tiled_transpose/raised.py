"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def tiled_transpose(a, out):
    """out = a transposed; one more column keeps the banks apart

    out[j, i] = a[i, j]  for 0 <= j < a.shape[1], 0 <= i < a.shape[0]

    a block has 4 threads along x
    a block has 4 threads along y
    """
    rows, cols = a.shape
    a = a.astype(jnp.result_type(a, jnp.float32))
    return out.at[:cols, :rows].set(a.T)  # kernel.py:18
