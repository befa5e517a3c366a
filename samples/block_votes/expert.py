"""What the threads of a block answer together, by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def hot_cells(heat, counts, limit, n, *, grid, block):
    hot = jnp.pad(heat[:n] > limit, (0, grid * block - n)).reshape(grid, block)
    return hot.sum(axis=1, dtype=counts.dtype)


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def settled(change, done, n, *, grid, block):
    restless = jnp.pad(jnp.abs(change[:n]) >= 0.25, (0, grid * block - n))
    return jnp.where(restless.reshape(grid, block).any(axis=1), done, 1)


@jax.jit
def loudest(signal, peaks):
    return jnp.abs(signal).reshape(-1, 64).max(axis=1)


@partial(jax.jit, static_argnames="n")
def total_charge(q, total, n):
    return total.at[0].add(q[:n].sum())


def large(rng):
    n = 1 << 21
    x, launch = rng.random(n, "f") - 0.5, {"grid": n // 64, "block": 64}
    marks = rng.integers(0, 9, n // 64).astype("int32")
    return {
        "hot_cells": {"heat": x, "counts": marks, "limit": 0.25, "n": n - 9} | launch,
        "settled": {"change": x * 0.505, "done": marks, "n": n - 9} | launch,
        "loudest": {"signal": x, "peaks": rng.random(n // 64, "f")} | launch,
        "total_charge": {"q": x, "total": rng.random(1, "f"), "n": n - 9} | launch,
    }
