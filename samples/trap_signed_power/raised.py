"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def signed_power(y, x, p):
    """``sign(x) * abs(x)**p``: each branch sees bases that the other may not.

    y[i] = x[i]**p[i] if x[i] > 0.0 else -(-x[i])**p[i] if x[i] < 0.0 else 0.0  for 0 <= i < x.shape[0]
    """
    n = x.shape[0]
    above = x > 0.0
    below = x < 0.0
    power = jnp.where(above, x, jnp.where(below, -x, 1)) ** p[:n]
    return y.at[:n].set(
        jnp.where(above, power, jnp.where(below, -power, 0.0))
    )  # kernel.py:17
