"""Reductions of blocks by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def block_sums(x, partial, n, *, grid, block):
    return jnp.pad(x[:n], (0, grid * block - n)).reshape(grid, block).sum(axis=1)


@jax.jit
def sum_of_squares(x, out):
    return out.at[0].add((x * x).sum())


@partial(jax.jit, static_argnames="n")
def mean_of(x, out, n):
    return out.at[0].add(x[:n].mean())


@jax.jit
def row_largest(x, out):
    return x.max(axis=1)


def large(rng):
    n = 4_000_000
    x, zero = rng.random(n, "f"), rng.random(1, "f")
    rows = {"x": rng.random((4000, 1000), "f"), "out": rng.random(4000, "f"), "grid": 4000, "block": 64}
    launch = {"grid": n // 64, "block": 64}
    return {
        "block_sums": {"x": x, "partial": rng.random(n // 64, "f"), "n": n - 7} | launch,
        "sum_of_squares": {"x": x, "out": zero} | launch,
        "mean_of": {"x": x, "out": zero, "n": n - 7} | launch,
        "row_largest": rows,
    }
