"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def eliminate(A, n):
    """
    for k = 0 ... n - 1 - 1:
        A[i, k] = A[i, k] / A[k, k]  for 0 <= i < n, where i >= k + 1
        A[i, j] += -(A[i, k] * A[k, j])  for 0 <= i < n, 0 <= j < n, where i >= k + 1 and j >= k + 1
    """
    if n == 0:
        return A
    A2 = A[: n * n].reshape(n, n)
    i = jnp.arange(n)
    j = jnp.arange(n)

    def step(k, A2):
        above = i >= k + 1
        A2 = A2.at[:, k].set(
            jnp.where(above, A2[:, k] / A2[k, k], A2[:, k])
        )  # kernel.cu:5
        return A2 + jnp.where(
            above[:, None] & (j >= k + 1), -(A2[:, k, None] * A2[k]), 0.0
        )  # kernel.cu:8

    A2 = jax.lax.fori_loop(0, n - 1, step, A2)  # kernel.cu:4
    return A.at[: n * n].set(A2.ravel())


@partial(jax.jit, static_argnames="n")
def substitute(A, b, n):
    """for k = 0 ... n - 1:
        b[i] += -(A[i, k] * b[k])  for 0 <= i < n, where i >= k + 1
    for k = 0 ... n - 1, from last to first:
        b[k] = b[k] / A[k, k]
        b[i] += -(A[i, k] * b[k])  for 0 <= i < n - 1, where i < k
    """
    A2 = A[: n * n].reshape(n, n)
    b = b.at[:n].set(
        jax.scipy.linalg.solve_triangular(A2, b[:n], lower=True, unit_diagonal=True)
    )  # kernel.cu:15
    return b.at[:n].set(
        jax.scipy.linalg.solve_triangular(A2, b[:n], lower=False)
    )  # kernel.cu:21


@partial(jax.jit, static_argnames=("n", "k"))
def column(A, n, k):
    """one step of the elimination, as a launch for each column has it

    A[i * n + k] = A[i * n + k] / A[k * n + k]  for max(0, k + 1) <= i < n
    """
    i = jnp.arange(max(0, k + 1), n)
    total = i * n + k
    return A.at[total].set(A[total] / A[k * n + k], unique_indices=True)  # kernel.cu:29
