"""Rows of length one and a weight by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def normalized(u, w, x, eps, most, n):
    rows = x.reshape(n, 3)
    square = (rows * rows).sum(axis=1)
    nought = square == 0
    norm = jnp.sqrt(jnp.where(nought, 1, square))
    scale = 1.0 / jnp.maximum(jnp.where(nought, 0, norm), eps)
    weight = jnp.minimum(1.0 / norm, most) + jnp.maximum(jnp.log(norm), -4.0)
    return (rows * scale[:, None]).ravel(), jnp.where(nought, most - 4.0, weight)


def large(rng):
    n = 100_000
    x, u = rng.random((2, 3 * n))
    return {"normalized": {"u": u, "w": u[:n], "x": x, "eps": 0.01, "most": 20.0, "n": n}}
