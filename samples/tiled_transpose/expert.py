"""A transposition by hand."""

import jax


@jax.jit
def tiled_transpose(a, out):
    return a.T


def large(rng):
    a = rng.random((2000, 1500), "f")
    return {"tiled_transpose": {"a": a, "out": 0 * a.T}}
