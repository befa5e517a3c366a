"""Sums and scans of warps and blocks by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def block_totals(x, total, n, *, grid, block):
    return jnp.pad(x[:n], (0, grid * block - n)).reshape(grid, block).sum(axis=1)


@partial(jax.jit, static_argnames="n")
def dot(a, b, out, n):
    return out.at[0].add(a[:n] @ b[:n])


@partial(jax.jit, static_argnames=("rows", "cols"))
def softmax_rows(x, y, rows, cols):
    return jax.nn.softmax(x.reshape(rows, cols), axis=1).ravel()


@jax.jit
def warp_scan(x, y):
    return jnp.cumsum(x.reshape(-1, 32), axis=1).ravel()


def large(rng):
    n = 1 << 21
    x, b, cell = rng.random(n, "f"), rng.random(n, "f"), rng.random(1, "f")
    launch = {"grid": n // 256, "block": 256}
    return {
        "block_totals": {"x": x, "total": rng.random(n // 256, "f"), "n": n - 9} | launch,
        "dot": {"a": x, "b": b, "out": cell, "n": n - 9},
        "softmax_rows": {"x": x[: 1000 * 777], "y": 0 * x[: 1000 * 777], "rows": 1000, "cols": 777},
        "warp_scan": {"x": x, "y": 0 * x} | launch,
    }
