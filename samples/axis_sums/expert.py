"""Sums and maxima of rows that one block holds, by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="size")
def axis_sum(out, a, size):
    return a[:, :size].sum(axis=1, keepdims=True)


@partial(jax.jit, static_argnames=("size", "grid"))
def guarded_sum(out, a, size, *, grid):
    return jnp.pad(a[:size], (0, 8 * grid - size)).reshape(grid, 8).sum(axis=1)


@jax.jit
def largest(out, a):
    return a.max(axis=1)


def large(rng):
    n = 1 << 17
    a, out = rng.random((n, 8), "f"), rng.random(n, "f")
    return {
        "axis_sum": {"out": out[:, None], "a": a, "size": 6, "grid": (1, n), "block": 8},
        "guarded_sum": {"out": out, "a": a.ravel(), "size": 8 * n - 5, "grid": n, "block": 8},
        "largest": {"out": out, "a": a, "grid": n, "block": 8},
    }
