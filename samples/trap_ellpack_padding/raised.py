"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def ellpack_padding(y, val, col, x):
    """Sparse rows of different lengths, padded: what stands in the padding is nobody's business.

    y[r] = sum_(k where col[r, k] >= 0) val[r, k] * x[col[r, k]]  for 0 <= r < y.shape[0]
    """
    n = y.shape[0]
    c = col[:n, : val.shape[1]]  # kernel.py:13
    above = c >= 0
    return jnp.sum(
        jnp.where(
            above,
            jnp.where(above, val[:n], 0) * x.at[c.astype(int)].get(mode="clip"),
            0,
        ),
        axis=1,
    ).astype(y.dtype)  # kernel.py:16
