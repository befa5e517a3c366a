"""Scans and reductions of tiles by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def tile_scan(in_, running, before, n):
    rows = jnp.pad(in_[:n], (0, -n % 32)).reshape(-1, 32)
    sums = jnp.cumsum(rows, axis=1, dtype=in_.dtype)
    return running.at[:n].set(sums.ravel()[:n]), before.at[:n].set((sums - rows).ravel()[:n])


@jax.jit
def best_of_eight(x, best):
    return x.reshape(-1, 8).max(axis=1)


def large(rng):
    n = 1 << 19
    x, count = rng.random(n, "f"), rng.integers(-5, 5, n).astype("int32")
    launch = {"grid": n // 64, "block": 64}
    return {
        "tile_scan": {"in_": count, "running": count, "before": count, "n": n - 9} | launch,
        "best_of_eight": {"x": x, "best": x[: n // 8]} | launch,
    }
