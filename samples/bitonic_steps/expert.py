"""One step of a bitonic sorting network by hand; j and k are data, and may be any numbers: of a pair the lower element
says which way it goes, and an element whose partner would be a negative one has none."""

import jax
import jax.numpy as jnp


@jax.jit
def bitonic_step(x, j, k):
    i = jnp.arange(x.size)
    other = i ^ j
    partner = x[other]
    small = (i < other) == (jnp.minimum(i, other) & k == 0)
    return jnp.where(other < 0, x, jnp.where(small, jnp.minimum(x, partner), jnp.maximum(x, partner)))


def large(rng):
    return {"bitonic_step": {"x": rng.random(1 << 20, "f"), "j": 1 << 8, "k": 1 << 9}}
