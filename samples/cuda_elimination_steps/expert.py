"""A dense system by Gaussian elimination without pivoting, by hand.

What a round does not touch stays as it is whatever the pivot: factors of zero would make a NaN of it where a row is
infinite.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def _factors(a, m, t):
    below = jnp.arange(a.shape[0]) > t
    return m.at[:, t].set(jnp.where(below, a[:, t] / a[t, t], m[:, t]))


@jax.jit
def _eliminate(a, b, m, t):
    i = jnp.arange(a.shape[0])
    below = i > t
    a = jnp.where(below[:, None] & (i >= t), a - m[:, t, None] * a[t], a)
    return a, jnp.where(below, b - m[:, t] * b[t], b)


@jax.jit
def _unknown(a, b, i):
    return b.at[i].divide(a[i, i])


@jax.jit
def _substitute(a, b, i):
    return jnp.where(jnp.arange(b.size) < i, b - a[:, i] * b[i], b)


@partial(jax.jit, static_argnames="n")
def solve(h_a, h_b, n):
    def down(t, system):
        a, b, m = system
        m = _factors(a, m, t)
        return *_eliminate(a, b, m, t), m

    def up(t, b):
        i = n - 1 - t
        return _substitute(a, _unknown(a, b, i), i)

    a, b, _ = jax.lax.fori_loop(0, n - 1, down, (h_a.reshape(n, n), h_b, jnp.zeros((n, n), h_a.dtype)))
    return jax.lax.fori_loop(0, n, up, b)


def large(rng):
    n = 300
    a = rng.random((n, n), "f") + n * np.eye(n, dtype="f")
    return {"solve": {"h_a": a.ravel(), "h_b": rng.random(n, "f"), "n": n}}
