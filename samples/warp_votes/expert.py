"""Moments, counts and votes of warps by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def moments(x, out, n):
    x = x[:n]
    return out.at[:2].add(jnp.stack((x.sum(), (x * x).sum())))


@partial(jax.jit, static_argnames="n")
def positives(x, out, n):
    return out.at[0].add(jnp.count_nonzero(x[:n] > 0))


@jax.jit
def from_first(x, y):
    rows = x.reshape(-1, 32)
    return (rows - rows[:, :1]).ravel()


@jax.jit
def flags(x, y, limit):
    above = x.reshape(-1, 32) > limit
    return above.any(axis=1).astype(y.dtype) + above.all(axis=1)


def large(rng):
    n = 1 << 21
    x, launch = rng.random(n, "f"), {"grid": n // 64, "block": 64}
    return {
        "moments": {"x": x, "out": rng.random(2, "f"), "n": n - 9},
        "positives": {"x": x - 0.5, "out": rng.integers(0, 9, 1).astype("int32"), "n": n - 9},
        "from_first": {"x": x, "y": 0 * x} | launch,
        "flags": {"x": x, "y": 0 * x[: n // 32].astype("int32"), "limit": 0.98} | launch,
    }
