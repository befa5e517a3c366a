"""Exclusive running sums within blocks by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def exclusive_scan(in_, out):
    rows = in_.reshape(-1, 128)
    return jnp.pad(jnp.cumsum(rows[:, :-1], axis=1), ((0, 0), (1, 0))).ravel()


def large(rng):
    x = rng.random(1 << 20, "f")
    return {"exclusive_scan": {"in_": x, "out": 0 * x, "grid": 1 << 13, "block": 64}}
