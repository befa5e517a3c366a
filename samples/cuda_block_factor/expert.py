"""A dense system without pivots by hand."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular


@partial(jax.jit, static_argnames="n")
def eliminate(A, n):
    i = jnp.arange(n)

    def step(k, a):
        below = i > k
        column = jnp.where(below, a[:, k] / a[k, k], a[:, k])
        a = a.at[:, k].set(column)
        return a - jnp.where(below, column, 0)[:, None] * jnp.where(below, a[k], 0)

    return jax.lax.fori_loop(0, n - 1, step, A.reshape(n, n)).ravel()


@partial(jax.jit, static_argnames="n")
def substitute(A, b, n):
    a = A.reshape(n, n)
    return solve_triangular(a, solve_triangular(a, b, lower=True, unit_diagonal=True))


@partial(jax.jit, static_argnames=("n", "k"))
def column(A, n, k):
    a = A.reshape(n, n)
    return a.at[k + 1 :, k].divide(a[k, k]).ravel()


def large(rng):
    import numpy as np

    n = 200
    A = rng.random((n, n), "f") + n * np.eye(n, dtype="f")
    factors = np.tril(A / n, -1) + np.triu(A)
    big = 1 + rng.random(1000 * 1000, "f")
    return {
        "eliminate": {"A": A.ravel(), "n": n},
        "substitute": {"A": factors.ravel(), "b": A[0] / n, "n": n},
        "column": {"A": big, "n": 1000, "k": 20},
    }
