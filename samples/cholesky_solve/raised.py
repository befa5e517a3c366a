"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Cholesky factorisation in place, and the two triangular solves with it.
"""

import jax
import jax.numpy as jnp


@jax.jit
def cholesky(A):
    """
    for k = 0 ... n - 1:
        A[k, k] = sqrt(A[k, k])
        A[i, k] = A[i, k] / A[k, k]  for 0 <= i < n, where i >= k + 1
        A[i, j] += -(A[i, k] * A[j, k])  for 0 <= j < n, 0 <= i < n, where j >= k + 1 and i >= j
    """
    n = A.shape[0]
    if n == 0:
        return A
    i = jnp.arange(n)
    j = jnp.arange(n)

    def step(k, A):
        A = A.at[k, k].set(jnp.sqrt(A[k, k]))  # kernel.py:11
        A = A.at[:, k].set(
            jnp.where(i >= k + 1, A[:, k] / A[k, k], A[:, k])
        )  # kernel.py:13
        return A.at[:, :n].add(
            jnp.where(
                (j >= k + 1) & jnp.tri(n, dtype=bool), -(A[:, k, None] * A[:, k]), 0
            )
        )  # kernel.py:16

    return jax.lax.fori_loop(0, n, step, A)  # kernel.py:10


@jax.jit
def solve(L, B):
    """L L^T X = B in place, one right-hand side a thread

    for i = 0 ... n - 1:
        B[i, c] = (B[i, c] + sum_(0 <= j < n - 1 where j < i) -(L[i, j] * B[j, c])) / L[i, i]
            for 0 <= c < B.shape[1]
    for i = 0 ... n - 1, from last to first:
        B[i, c] = (B[i, c] + sum_(1 <= j < n where j >= i + 1) -(L[j, i] * B[j, c])) / L[i, i]
            for 0 <= c < B.shape[1]

    B holds floating-point numbers
    """
    n = L.shape[0]
    if not jnp.issubdtype(B.dtype, jnp.inexact):
        raise ValueError("solve: B must hold floating-point numbers")
    B = B.at[:n].set(
        jax.scipy.linalg.solve_triangular(L[:, :n], B[:n], lower=True)
    )  # kernel.py:29
    return B.at[:n].set(
        jax.scipy.linalg.solve_triangular(L[:, :n], B[:n], lower=True, trans=1)
    )  # kernel.py:34
