"""Exclusive running sums within blocks of 32 by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def sums_before(x, y):
    rows = x.reshape(-1, 32)
    return (jnp.cumsum(rows, axis=1) - rows).ravel()


def large(rng):
    x = rng.random(1 << 20, "f")
    return {"sums_before": {"x": x, "y": 0 * x, "grid": 1 << 15, "block": 16}}
