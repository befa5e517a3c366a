"""One step of a bitonic sorting network by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def bitonic_step(x, j, k):
    i = jnp.arange(x.size)
    other = i ^ j
    partner = x[other]
    small = (i < other) == (i & k == 0)
    return jnp.where(small, jnp.minimum(x, partner), jnp.maximum(x, partner))


def large(rng):
    return {"bitonic_step": {"x": rng.random(1 << 20, "f"), "j": 1 << 8, "k": 1 << 9}}
