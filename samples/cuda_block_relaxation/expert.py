"""Values that move to the left by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="steps")
def block_relaxation(x, y, steps):
    def step(_, v):
        return 0.5 * (v + jnp.pad(v[:, 1:], ((0, 0), (0, 1))))

    return jax.lax.fori_loop(0, steps, step, x.reshape(-1, 32))[:, 0]


def large(rng):
    x = rng.random(32 * 5000, "f")
    return {"block_relaxation": {"x": x, "y": x[:5000], "steps": 20, "grid": 5000, "block": 32}}
