"""Rows normalised, blocks turned round and counted, by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="cols")
def whiten(x, y, cols, eps):
    rows = x.reshape(-1, cols)
    mean = rows.mean(axis=1, keepdims=True)
    var = (rows * rows).mean(axis=1, keepdims=True) - mean * mean
    return ((rows - mean) * jax.lax.rsqrt(var + eps)).ravel()


@partial(jax.jit, static_argnames=("grid", "block"))
def mirrored(x, y, *, grid, block):
    rows = x.reshape(grid, block)
    return (rows[:, ::-1] - 0.5 * rows[:, :1]).ravel()


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def above(x, count, largest, limit, n, *, grid, block):
    rows = jnp.pad(x[:n], (0, grid * block - n)).reshape(grid, block)
    high = (rows > limit) & (jnp.arange(grid * block).reshape(grid, block) < n)
    last = block - 1 - high[:, ::-1].argmax(axis=1)
    tally = high.sum(axis=1, dtype=count.dtype)
    return tally, jnp.where(tally > 0, jnp.take_along_axis(rows, last[:, None], axis=1)[:, 0], limit)


def large(rng):
    n = 1 << 20
    x, launch = rng.random(n, "f"), {"grid": n // 64, "block": 64}
    count = rng.integers(0, 9, n // 64).astype("int32")
    return {
        "whiten": {"x": x, "y": x, "cols": 512, "eps": 0.125, "grid": n // 512, "block": 128},
        "mirrored": {"x": x, "y": x} | launch,
        "above": {"x": x, "count": count, "largest": x[: n // 64], "limit": 0.98, "n": n - 9} | launch,
    }
