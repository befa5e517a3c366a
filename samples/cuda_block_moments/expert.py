"""Least, greatest and mean of blocks by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def block_moments(x, least, greatest, mean, n, *, grid, block):
    def blocks(fill):
        return jnp.pad(x[:n], (0, grid * block - n), constant_values=fill).reshape(grid, block)

    return blocks(jnp.inf).min(axis=1), blocks(-jnp.inf).max(axis=1), blocks(0).mean(axis=1)


def large(rng):
    n = 1 << 21
    launch = {"grid": n // 256, "block": 256, "shared": 768}
    return {
        "block_moments": {"x": rng.random(n, "f"), "n": n - 9}
        | launch
        | {name: rng.random(n // 256, "f") for name in ("least", "greatest", "mean")}
    }
