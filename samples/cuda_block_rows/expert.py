"""Blocks that look at all of their own cells, by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def centred(x, y, n):
    rows = jnp.pad(x[:n], (0, -n % 64)).reshape(-1, 64)
    return y.at[:n].set((rows - rows.mean(axis=1, keepdims=True)).ravel()[:n])


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def turned(x, y, n, *, grid, block):
    rows = jnp.pad(x[:n], (0, grid * block - n)).reshape(grid, block)
    return y.at[:n].set(rows[:, ::-1].ravel()[:n])


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def shares(x, w, share, n, *, grid, block):
    product = jnp.pad(x[:n] * w[:n], (0, -n % (grid * block)))
    return share.at[:grid].set(product.reshape(-1, grid, block).sum(axis=(0, 2)))


def large(rng):
    n = 1 << 20
    x, launch = rng.random(n, "f"), {"grid": n // 64, "block": 64, "shared": 64}
    given = {"x": x, "y": 0 * x, "n": n - 9}
    few = {"w": rng.random(n, "f"), "share": rng.random(64, "f"), "grid": 64, "block": 128, "shared": 128}
    return {"centred": given | launch, "turned": given | launch, "shares": {"x": x, "n": n - 9} | few}
