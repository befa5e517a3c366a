"""Scans and sums of blocks by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def block_scans(x, before, totals, n):
    rows = jnp.pad(x[:n], (0, 32 * totals.size - n)).reshape(-1, 32)
    sums = jnp.cumsum(rows, axis=1)
    exclusive = jnp.pad(sums[:, :-1], ((0, 0), (1, 0)))
    return exclusive.ravel()[:n], sums[:, -1]


@jax.jit
def water_marks(level, mark):
    return jax.lax.cummax(level.reshape(-1, 32), axis=1).ravel()


@jax.jit
def long_rows(count, offset):
    return jnp.cumsum(count.reshape(-1, 128), axis=1, dtype=count.dtype).ravel()


@partial(jax.jit, static_argnames="n")
def warp_sums(x, y, n):
    rows = jnp.pad(x[:n], (0, 32 * y.size - n)).reshape(-1, 32)
    return (rows * rows).sum(axis=1)


def large(rng):
    n = 1 << 19
    x, y = rng.random((2, n), "f")
    count = rng.integers(0, 9, n).astype("int32")
    launch = {"grid": n // 32, "block": 32}
    return {
        "block_scans": {"x": x[:-9], "before": y[:-9], "totals": y[: n // 32], "n": n - 9} | launch,
        "water_marks": {"level": x, "mark": y} | launch,
        "long_rows": {"count": count, "offset": count, "grid": n // 128, "block": 32},
        "warp_sums": {"x": x, "y": y[: n // 32], "n": n - 9} | launch,
    }
