"""A kick and a drift between reflecting walls by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def particle_push(pos, vel, acc):
    v = vel + 0.05 * acc
    p = pos + 0.05 * v
    low, high = p < 0, p > 4.0
    return jnp.where(low, -p, jnp.where(high, 8.0 - p, p)), jnp.where(low | high, -v, v)


def large(rng):
    n = 300_000
    moved = {"pos": 4 * rng.random((n, 3), "f"), "vel": 18 * rng.random((n, 3), "f") - 9}
    return {"particle_push": moved | {"acc": rng.random((n, 3), "f")}}
