"""A transposition by hand."""

import jax


@jax.jit
def transpose(a, a_t):
    return a.T


def large(rng):
    a = rng.random((800, 1000), "f")
    return {"transpose": {"a": a, "a_t": a.reshape(1000, 800)}}
