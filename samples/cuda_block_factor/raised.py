"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def eliminate(A, n):
    """
    for k = 0 ... n - 1 - 1:
        A[i, k] = A[i, k] / A[k, k]  for 1 <= i < n, where i >= k + 1
        A[i, j] += -(A[i, k] * A[k, j])  for 1 <= i < n, 0 <= j < n, where i >= k + 1 and j >= k + 1
    """
    A2 = A[: n * n].reshape(n, n)
    i = jnp.arange(1, n)
    j = jnp.arange(n)

    def step(k, A2):
        above = i >= k + 1
        A2 = A2.at[1:, k].set(
            jnp.where(above, A2[1:, k] / A2[k, k], A2[1:, k])
        )  # kernel.cu:5
        return A2.at[1:].add(
            jnp.where(above[:, None] & (j >= k + 1), -(A2[1:, k, None] * A2[k]), 0.0)
        )  # kernel.cu:8

    A2 = jax.lax.fori_loop(0, n - 1, step, A2)  # kernel.cu:4
    return A.at[: n * n].set(A2.ravel())


@partial(jax.jit, static_argnames="n")
def substitute(A, b, n):
    """for k = 0 ... n - 1:
        b[i] += -(A[i, k] * b[k])  for 1 <= i < n, where i >= k + 1
    for k = 0 ... n - 1, from last to first:
        b[k] = b[k] / A[k, k]
        b[i] += -(A[i, k] * b[k])  for 0 <= i < n - 1, where i < k
    """
    if n < 1:
        return b
    i = jnp.arange(1, n)
    A2 = A[: n * n].reshape(n, n)

    def step(b, inputs):
        k, A_k = inputs
        mask = i >= k + 1
        b = b.at[1:n].add(
            jnp.where(mask, -(A_k * jnp.where(mask, b[k], 0)), 0.0)
        )  # kernel.cu:15
        return b, None

    b, _ = jax.lax.scan(step, b, (jnp.arange(n), A2[1:].T))  # kernel.cu:14
    i_2 = jnp.arange(n - 1)

    def step(b, inputs):
        k_2, A_k = inputs
        b = b.at[k_2].set(b[k_2] / A2[k_2, k_2])  # kernel.cu:19
        mask = i_2 < k_2
        b = b.at[: n - 1].add(
            jnp.where(mask, -(A_k * jnp.where(mask, b[k_2], 0)), 0.0)
        )  # kernel.cu:21
        return b, None

    b, _ = jax.lax.scan(
        step, b, (jnp.arange(n), A2[:-1].T), reverse=True
    )  # kernel.cu:18
    return b


@partial(jax.jit, static_argnames=("n", "k"))
def column(A, n, k):
    """one step of the elimination, as a launch for each column has it

    A[i * n + k] = A[i * n + k] / A[k * n + k]  for max(0, k + 1) <= i < n
    """
    i = jnp.arange(max(0, k + 1), n)
    total = i * n + k
    return A.at[total].set(A[total] / A[k * n + k], unique_indices=True)  # kernel.cu:29
