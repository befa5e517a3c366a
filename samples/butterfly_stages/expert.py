"""Stages of fast transforms by hand: the pairs are two halves of an axis, the last of which n need not fill."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("half", "n"))
def walsh_stage(v, half, n):
    rows = -(-(n // 2) // half)
    pairs = jnp.resize(v, (rows, 2, half))
    a, b = pairs[:, 0], pairs[:, 1]
    run = jnp.arange(rows * half).reshape(rows, half) < n // 2
    new = jnp.stack((jnp.where(run, a + b, a), jnp.where(run, a - b, b)), axis=1).ravel()
    return v.at[: new.size].set(new[: v.size])


@partial(jax.jit, static_argnames=("half", "n"))
def fourier_stage(re, im, cos, sin, half, n):
    turn = n // (2 * half)
    c, s = cos.reshape(half, turn)[:, 0], sin.reshape(half, turn)[:, 0]
    re, im = re.reshape(-1, 2, half), im.reshape(-1, 2, half)
    x = re[:, 1] * c - im[:, 1] * s
    y = re[:, 1] * s + im[:, 1] * c
    re = jnp.stack((re[:, 0] + x, re[:, 0] - x), axis=1)
    im = jnp.stack((im[:, 0] + y, im[:, 0] - y), axis=1)
    return re.ravel(), im.ravel()


def large(rng):
    n, half = 1 << 20, 1 << 8
    re, im = rng.random((2, n), "f")
    cos, sin = rng.random((2, n // 2), "f")
    return {
        "walsh_stage": {"v": re, "half": half, "n": n},
        "fourier_stage": {"re": re, "im": im, "cos": cos, "sin": sin, "half": half, "n": n},
    }
