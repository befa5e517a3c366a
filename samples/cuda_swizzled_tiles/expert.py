"""A transposition and sums of strided shares by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("w", "h"))
def swizzled(out, in_, w, h):
    return in_.reshape(h, w).T.ravel()


@partial(jax.jit, static_argnames=("n", "m", "stride"))
def shares(out, in_, n, m, stride):
    rounds = -(-n // stride)
    squares = jnp.pad(in_[:n] ** 2, (0, (rounds - 1) * stride + m - min(n, (rounds - 1) * stride + m)))
    return sum(jax.lax.slice(squares, (k * stride,), (k * stride + m,)) for k in range(rounds))


def large(rng):
    x, out = rng.random((2, 800 * 1000), "f")
    share, parts = rng.random(1 << 20, "f"), rng.random(1 << 16, "f")
    return {
        "swizzled": {"out": out, "in_": x, "w": 1000, "h": 800},
        "shares": {"out": parts, "in_": share, "n": 1 << 20, "m": 1 << 16, "stride": 1 << 16},
    }
