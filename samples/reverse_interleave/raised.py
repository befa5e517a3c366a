"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def reverse_interleave(a, b, out):
    """Even elements come from ``a`` read backwards, odd ones from every third element of ``b``.

    out[2 * i] = a[n - i - 1]  for 0 <= i < n
    out[2 * i + 1] = b[3 * i + 1]  for 0 <= i < n
    """
    n = a.shape[0]
    return out.at[: 2 * n].set(
        jnp.stack((a[::-1], b[1 : 3 * n + 1 : 3]), axis=1).ravel()
    )  # kernel.py:11
