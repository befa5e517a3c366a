"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def reach(r, n, k):
    """r[i, j] = r[i, j] | r[i, k] & r[k, j]  for 0 <= j < n, 0 <= i < n

    0 <= k < n, as in the loop that launches it
    """
    r2 = r[: n * n].reshape(n, n)
    r2 = r2 | r2[:, k, None] & r2[k]  # kernel.cu:8
    return r.at[: n * n].set(r2.ravel())


@partial(jax.jit, static_argnames="n")
def widen(w, n, k):
    """w[i, j] = max(w[i, j], min(w[i, k], w[k, j]))  for 0 <= j < n, 0 <= i < n

    0 <= k < n, as in the loop that launches it
    """
    w2 = w[: n * n].reshape(n, n)
    w2 = jnp.maximum(w2, jnp.minimum(w2[:, k, None], w2[k]))  # kernel.cu:15
    return w.at[: n * n].set(w2.ravel())


@partial(jax.jit, static_argnames="n")
def closure(r, w, n):
    def step(k, state):
        r, w = state
        r, w = r.ravel(), w.ravel()
        r = reach(r, n, k)  # kernel.cu:22
        w = widen(w, n, k)  # kernel.cu:23
        return r.reshape(n, n), w.reshape(n, n)

    r2, w2 = r[: n * n].reshape(n, n), w[: n * n].reshape(n, n)
    r2, w2 = jax.lax.fori_loop(0, n, step, (r2, w2))  # kernel.cu:21
    return r.at[: n * n].set(r2.ravel()), w.at[: n * n].set(w2.ravel())
