"""Literals and casts by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def literals(counts, x, y, n):
    i = jnp.arange(n)
    angle = (2.0 * jnp.pi / n) * counts[:n].astype(x.dtype)
    return y.at[:n].set(0.5 * x[:n] * jnp.cos(angle) + (i % 3 - i // 2))
