"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def literals(counts, x, y, n):
    """unsuffixed literals in float code, mixed types, casts in both spellings

    y[i] = 0.5 * x[i] * cos(2.0 * 3.14159265358979 * counts[i] / n) + i % 3 - i // 2  for 0 <= i < n
    """
    angle = (
        2.0
        * 3.14159265358979
        * (counts[:n].astype(jnp.float32) / jnp.asarray(n, jnp.float32))
    )  # kernel.cu:6
    i = jnp.arange(n)
    return y.at[:n].set(
        0.5 * x[:n] * jnp.cos(angle)
        + (i % 3).astype(jnp.float32)
        - (i // 2).astype(jnp.float32)
    )  # kernel.cu:7
