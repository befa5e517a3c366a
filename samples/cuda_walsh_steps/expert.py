"""One step of a Walsh-Hadamard transform by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="bit")
def walsh_step(x, bit):
    a, b = jnp.split(x.reshape(-1, 2, bit), 2, axis=1)
    return jnp.concatenate((a + b, a - b), axis=1).ravel()


def large(rng):
    return {"walsh_step": {"x": rng.random(1 << 20, "f"), "bit": 1 << 8, "grid": 1 << 12, "block": 256}}
