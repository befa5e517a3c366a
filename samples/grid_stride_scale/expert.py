"""Scaled numbers by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def grid_stride_scale(x, y, a):
    return a * x / (1.0 + jnp.abs(x))
