"""Softmax of rows by hand."""

import jax


@jax.jit
def softmax(x, y):
    return jax.nn.softmax(x, axis=1)


def large(rng):
    x = rng.random((1000, 1000), "f")
    return {"softmax": {"x": x, "y": 0 * x, "grid": 1000, "block": 256}}
