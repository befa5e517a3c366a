"""One step of a Walsh-Hadamard transform by hand; which bit (or bits, or none) is data, as in the source, and the launch
covers x."""

import jax
import jax.numpy as jnp


@jax.jit
def walsh_step(x, bit):
    i = jnp.arange(x.size, dtype=jnp.uint32)
    pair = i ^ bit
    partner = x[pair]
    return jnp.where(pair & bit == 0, partner - x, jnp.where(i & bit == 0, x + partner, x))


def large(rng):
    return {"walsh_step": {"x": rng.random(1 << 20, "f"), "bit": 1 << 8, "grid": 1 << 12, "block": 256}}
