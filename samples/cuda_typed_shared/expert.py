"""Extrema and means of blocks by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def block_max(x, best, n, *, grid, block):
    rows = jnp.pad(x[:n], (0, grid * block - n), constant_values=-jnp.inf).reshape(grid, block)
    return jnp.maximum(rows.max(axis=1), jnp.where(jnp.arange(1, grid + 1) * block > n, x[0], -jnp.inf))


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def block_mean(x, mean, n, *, grid, block):
    return jnp.pad(x[:n], (0, grid * block - n)).reshape(grid, block).mean(axis=1)


def large(rng):
    n, launch = 1 << 18, {"grid": 1 << 12, "block": 64, "shared": 64}
    x, y = rng.random(n, "f"), rng.random(n)
    return {
        "block_max": {"x": x, "best": x[: 1 << 12], "n": n - 9} | launch,
        "block_mean": {"x": y, "mean": y[: 1 << 12], "n": n - 9} | launch,
    }
