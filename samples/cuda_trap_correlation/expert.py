"""Cosines of rows by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("rows", "n"))
def correlation(r, a, b, rows, n):
    a, b = a.reshape(rows, n), b.reshape(rows, n)
    square = (a * a).sum(axis=1) * (b * b).sum(axis=1)
    usable = square > 1e-6
    return jnp.where(usable, (a * b).sum(axis=1) / jnp.sqrt(jnp.where(usable, square, 1)), 0)


def large(rng):
    a, b = rng.random((2, 1000 * 400))
    return {"correlation": {"r": a[:1000], "a": a, "b": b, "rows": 1000, "n": 400}}
