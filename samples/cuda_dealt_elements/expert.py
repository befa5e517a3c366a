"""Elementwise work and a histogram by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def brighten(x, y, n):
    return y.at[:n].set(jnp.sqrt(x[:n] * x[:n] + 1.0))


@partial(jax.jit, static_argnames="n")
def quads(x, y, n):
    x = x[:n]
    return y.at[:n].set(x / (2.0 + x[::-1]))


@partial(jax.jit, static_argnames="n")
def chunks(x, y, n):
    return y.at[:n].set(jnp.exp(-x[:n] * x[:n]))


@partial(jax.jit, static_argnames="n")
def even_parts(x, y, n):
    return y.at[:n].set(2.0 * x[:n])


@partial(jax.jit, static_argnames="n")
def count_classes(x, count, n):
    return count + jnp.bincount(x[:n] & 7, length=8).astype(count.dtype)


def large(rng):
    n = 1 << 21
    x = rng.random(n, "f")
    given = {"x": x, "y": 0 * x, "n": n - 5}
    classes = {"x": rng.integers(0, 100, n).astype("int32"), "count": rng.integers(0, 9, 8).astype("int32"), "n": n - 5}
    launch = {"grid": n // 512, "block": 128}
    return {
        "brighten": given | launch,
        "quads": given | launch,
        "chunks": given | launch | {"chunk": 4},
        "even_parts": given | launch,
        "count_classes": classes | launch,
    }
