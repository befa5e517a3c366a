"""Directions by hand: the root is compared, and divided by, as the source does (its square would tell others apart)."""

import jax
import jax.numpy as jnp


@jax.jit
def unit_vectors(u, x):
    square = (x * x).sum(axis=1, keepdims=True)
    some = jnp.sqrt(square) > 1e-3
    return x / jnp.sqrt(jnp.where(some, square, 1))


def large(rng):
    u, x = rng.random((2, 100_000, 3))
    return {"unit_vectors": {"u": u, "x": x}}
