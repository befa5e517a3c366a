"""Sums of blocks by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def two_loads(x, out, n, *, grid, block):
    return jnp.pad(x[:n], (0, 2 * grid * block - n)).reshape(grid, 2 * block).sum(axis=1)


@partial(jax.jit, static_argnames="n")
def dot_const(a, b, c, n):
    products = jnp.pad(a[:n] * b[:n], (0, -n % (4 * c.size)))
    return products.reshape(-1, c.size, 4).sum(axis=(0, 2))


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def serial_sum(x, out, n, *, grid, block):
    return jnp.pad(x[:n], (0, grid * block - n)).reshape(grid, block).sum(axis=1)


def large(rng):
    x, y = rng.random((2, 1 << 19), "f")
    n = x.size - 9
    return {
        "two_loads": {"x": x, "out": y[: 1 << 12], "n": n, "grid": 1 << 12, "block": 64},
        "dot_const": {"a": x, "b": y, "c": y[:64], "n": n, "grid": 64, "block": 4},
        "serial_sum": {"x": x, "out": y[: 1 << 13], "n": n, "grid": 1 << 13, "block": 64},
    }
