"""A dense system by Gaussian elimination without pivoting, by hand."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@partial(jax.jit, static_argnames="n")
def solve(h_a, h_b, n):
    i = jnp.arange(n)

    def eliminate(t, system):
        a, b = system
        m = jnp.where(i > t, a[:, t] / a[t, t], 0)
        return a - m[:, None] * a[t], b - m * b[t]

    a, b = jax.lax.fori_loop(0, n - 1, eliminate, (h_a.reshape(n, n), h_b))

    def substitute(t, b):
        k = n - 1 - t
        x = b[k] / a[k, k]
        return jnp.where(i < k, b - a[:, k] * x, b).at[k].set(x)

    return jax.lax.fori_loop(0, n, substitute, b)


def large(rng):
    n = 300
    a = rng.random((n, n), "f") + n * np.eye(n, dtype="f")
    return {"solve": {"h_a": a.ravel(), "h_b": rng.random(n, "f"), "n": n}}
