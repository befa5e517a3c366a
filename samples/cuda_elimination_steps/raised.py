"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def factors(a, m, n, t):
    """m[i, t] = a[i, t] / a[t, t]  for 0 <= i < n, where i > t

    0 <= t < n - 1, as in the loop that launches it
    """
    i = jnp.arange(n)
    above = i > t
    a2 = a[: n * n].reshape(n, n)
    m2 = m[: n * n].reshape(n, n)
    m2 = m2.at[:, t].set(
        jnp.where(above, a2[:, t] / jnp.where(above, a2[t, t], 1.0), m2[:, t])
    )  # kernel.cu:8
    return m.at[: n * n].set(m2.ravel())


@partial(jax.jit, static_argnames="n")
def eliminate(a, b, m, n, t):
    """a[y, x] += -(m[y, t] * a[t, x])  for 0 <= x < n, 0 <= y < n, where x >= t and y > t
    b[y] += -(m[y, t] * b[t])  for 0 <= y < n, where y > t

    0 <= t < n - 1, as in the loop that launches it
    """
    x = jnp.arange(n)
    y = jnp.arange(n)
    above = y > t
    m2 = m[: n * n].reshape(n, n)
    m_here = m2[:, t]
    a2 = a[: n * n].reshape(n, n)
    a2 = a2 + jnp.where(
        (x >= t) & above[:, None], -(m_here[:, None] * a2[t]), 0.0
    )  # kernel.cu:16
    b = b.at[:n].add(
        jnp.where(above, -(m_here * jnp.where(above, b[t], 0)), 0.0)
    )  # kernel.cu:17
    a = a.at[: n * n].set(a2.ravel())
    return a, b


@jax.jit
def unknown(a, b, n, i):
    """b[i] = b[i] / a[i * n + i]

    0 <= i < n, as in the loop that launches it
    """
    return b.at[i].set(b[i] / a[i * n + i])  # kernel.cu:22


@partial(jax.jit, static_argnames="n")
def substitute(a, b, n, i):
    """b[row] += -(a[row, i] * b[i])  for 0 <= row < n - 1, where row < i

    0 <= i < n, as in the loop that launches it
    """
    if n < 1:
        return b
    row = jnp.arange(n - 1)
    mask = row < i
    a2 = a[: (n - 1) * n].reshape(n - 1, n)
    return b.at[: n - 1].add(
        jnp.where(mask, -(a2[:, i] * jnp.where(mask, b[i], 0)), 0.0)
    )  # kernel.cu:28


@partial(jax.jit, static_argnames="n")
def solve(h_a, h_b, n):
    m = jnp.zeros(n * n, h_a.dtype)
    a = h_a[: n * n]
    b = h_b[:n]

    def step(t, state):
        a, m, b = state
        a, m = a.ravel(), m.ravel()
        m = factors(a, m, n, t)  # kernel.cu:43
        a, b = eliminate(a, b, m, n, t)  # kernel.cu:44
        return a.reshape(n, n), m.reshape(n, n), b

    a, m = a.reshape(n, n), m.reshape(n, n)
    a, _, b = jax.lax.fori_loop(0, n - 1, step, (a, m, b))  # kernel.cu:41
    a = a.ravel()

    def step(r, b):
        i = n - 1 - r
        b = unknown(a, b, n, i)  # kernel.cu:47
        return substitute(a, b, n, i)  # kernel.cu:48

    b = jax.lax.fori_loop(0, n, step, b)  # kernel.cu:46
    return h_b.at[:n].set(b)
