"""Softmaxes of rows by hand."""

from functools import partial

import jax


@partial(jax.jit, static_argnames="cols")
def softmax(x, y, cols):
    return jax.nn.softmax(x.reshape(-1, cols), axis=1).ravel()


def large(rng):
    x, y = rng.random((2, 1000 * 500), "f")
    return {"softmax": {"x": x, "y": y, "cols": 500, "grid": 1000, "block": 64}}
