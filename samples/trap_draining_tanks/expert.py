"""Tanks that run dry, by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def draining_tanks(y, level, rate):
    def step(_, v):
        wet = v > 0  # a tank that is dry stays so
        return jnp.where(wet, v - rate * jnp.sqrt(jnp.where(wet, v, 1)), v)

    return jax.lax.fori_loop(0, 12, step, level)


def large(rng):
    y, level = rng.random((2, 100_000))
    return {"draining_tanks": {"y": y, "level": 9 * level - 1, "rate": 0.4}}
