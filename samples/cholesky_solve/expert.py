"""Cholesky's factorisation by rank-1 updates, and the two triangular solves, by hand."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def cholesky(A):
    i = jnp.arange(A.shape[0])

    def step(k, A):
        root = jnp.sqrt(A[k, k])
        column = jnp.where(i > k, A[:, k] / root, 0)
        A = A - jnp.tril(column[:, None] * column)
        return A.at[:, k].set(jnp.where(i > k, column, A[:, k])).at[k, k].set(root)

    return jax.lax.fori_loop(0, A.shape[0], step, A)


@jax.jit
def solve(L, B):
    y = jax.scipy.linalg.solve_triangular(L, B, lower=True)
    return jax.scipy.linalg.solve_triangular(L, y, lower=True, trans="T")


def large(rng):
    A = rng.random((300, 300))
    L = np.tril(A) + 300 * np.eye(300)
    return {"cholesky": {"A": A @ A.T + 300 * np.eye(300)}, "solve": {"L": L, "B": rng.random((300, 200))}}
