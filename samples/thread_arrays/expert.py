"""What four kernels with arrays of their own compute, by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@jax.jit
def coarse_rows(x, w, y):
    return x @ w


@jax.jit
def sorted_pair(x, y):
    a, b = jnp.minimum(x[:, 0], x[:, 1]), jnp.maximum(x[:, 0], x[:, 1])
    return a + 2.0 * jnp.minimum(b, x[:, 2])


@jax.jit
def row_scale(m, w, out):
    return m * w[:, None]


@partial(jax.jit, static_argnames=("grid", "block"))
def mirror_in_block(x, y, *, grid, block):
    return x.reshape(grid, block)[:, ::-1].ravel()


def large(rng):
    x, m = rng.random(1 << 21, "f"), rng.random((1500, 1000), "f")
    return {
        "coarse_rows": {"x": m, "w": rng.random((1000, 4), "f"), "y": rng.random((1500, 4), "f")},
        "sorted_pair": {"x": rng.random((500_000, 3), "f"), "y": x[:500_000]},
        "row_scale": {"m": m, "w": rng.random(1500, "f"), "out": 0 * m, "grid": 1500, "block": 64},
        "mirror_in_block": {"x": x, "y": 0 * x, "grid": 1 << 15, "block": 64},
    }
