"""Sums and maxima of tiles and blocks by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def sum_of_tiles(x, out, n):
    return out.at[0].add(x[:n].sum())


@jax.jit
def largest_of_tile(x, y):
    rows = x.reshape(-1, 32)
    return (rows / rows.max(axis=1, keepdims=True)).ravel()


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def sum_of_block(x, total, n, *, grid, block):
    return jnp.pad(x[:n], (0, grid * block - n)).reshape(grid, block).sum(axis=1)


def large(rng):
    n = 1 << 21
    x, launch = rng.random(n, "f") + 0.5, {"grid": n // 256, "block": 256}
    return {
        "sum_of_tiles": {"x": x, "out": rng.random(1, "f"), "n": n - 9} | launch,
        "largest_of_tile": {"x": x, "y": 0 * x} | launch,
        "sum_of_block": {"x": x, "total": rng.random(n // 256, "f"), "n": n - 9} | launch,
    }
