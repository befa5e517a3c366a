"""Extrema by buckets and by columns by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def extrema(x, bucket, high, low, size, n):
    x, bucket = x[:n], bucket[:n]
    return high.at[bucket].max(x), low.at[bucket].min(x), size.at[0].max(jnp.abs(x).max())


@partial(jax.jit, static_argnames=("rows", "cols"))
def column_max(x, high, rows, cols):
    return jnp.maximum(high, x.reshape(rows, cols).max(axis=0))


def large(rng):
    x, bucket = rng.random(200_000, "f") - 0.5, rng.integers(0, 1000, 200_000).astype("int32")
    cells = {"high": 0.1 * rng.random(1000, "f"), "low": 0.1 * rng.random(1000, "f"), "size": rng.random(1, "f") / 4}
    table = {
        "x": rng.random(1 << 21, "f"),
        "high": 0.9 + 0.1 * rng.random(1 << 11, "f"),
        "rows": 1 << 10,
        "cols": 1 << 11,
    }
    return {
        "extrema": {"x": x, "bucket": bucket, "n": 199_000} | cells,
        "column_max": table | {"grid": (8, 1 << 10), "block": 256},
    }
