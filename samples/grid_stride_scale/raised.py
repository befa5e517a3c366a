"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def grid_stride_scale(x, y, a):
    """Grid-stride loop: any launch covers the whole array.

    y[i] = a * x[i] / (1.0 + abs(x[i]))  for 0 <= i < x.shape[0]
    """
    return y.at[: x.shape[0]].set(a * x / (1.0 + jnp.abs(x)))  # kernel.py:10
