"""Products of rows and running sums of blocks by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@jax.jit
def row_products(x, y):
    return x.prod(axis=1)


@partial(jax.jit, static_argnames=("grid", "block"))
def running_sums(x, y, *, grid, block):
    return jnp.cumsum(x.reshape(grid, block), axis=1).ravel()


def large(rng):
    x = 0.95 + 0.1 * rng.random((4000, 128), "f")
    launch = {"grid": 4000, "block": 128}
    return {
        "row_products": {"x": x, "y": x[:, 0]} | launch,
        "running_sums": {"x": x.ravel(), "y": x.ravel()} | launch,
    }
