"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def lu_factor(a):
    """LU factorisation in place without pivoting: L below the unit diagonal, U on and above it.

    for k = 0 ... n - 1:
        a[i, k] = a[i, k] / a[k, k]  for 0 <= i < n, where i >= k + 1
        a[i, j] += -(a[i, k] * a[k, j])  for 0 <= i < n, 0 <= j < n, where i >= k + 1 and j >= k + 1
    """
    n = a.shape[0]
    if n == 0:
        return a
    i = jnp.arange(n)
    j = jnp.arange(n)

    def step(k, a):
        above = i >= k + 1
        a = a.at[:, k].set(jnp.where(above, a[:, k] / a[k, k], a[:, k]))  # kernel.py:6
        return a.at[:, :n].add(
            jnp.where(above[:, None] & (j >= k + 1), -(a[:, k, None] * a[k, :n]), 0)
        )  # kernel.py:8

    return jax.lax.fori_loop(0, n, step, a)  # kernel.py:4
