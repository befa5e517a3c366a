"""Exclusive running sums within blocks of 32 by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def sums_before(x, y):
    # not cumsum(rows) - rows: beside a large element the difference has lost what came before it
    return jnp.pad(jnp.cumsum(x.reshape(-1, 32), axis=1)[:, :-1], ((0, 0), (1, 0))).ravel()


def large(rng):
    x = rng.random(1 << 20, "f")
    return {"sums_before": {"x": x, "y": 0 * x, "grid": 1 << 15, "block": 16}}
