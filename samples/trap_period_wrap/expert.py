"""Positions folded into their periods by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def period_wrap(y, x, period):
    periodic = period > 0
    length = jnp.where(periodic, period, 1)
    return jnp.where(periodic, jnp.fmod(x, length) / length, x)


def large(rng):
    y, x, period = rng.random((3, 200_000))
    return {"period_wrap": {"y": y, "x": 9 * x, "period": period - 0.2}}
