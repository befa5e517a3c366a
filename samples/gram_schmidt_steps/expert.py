"""The modified Gram-Schmidt method by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def _norms(a, r, k):
    return r.at[k, k].set(jnp.sqrt(a[:, k] @ a[:, k]))


@jax.jit
def _scale(a, q, r, k):
    return q.at[:, k].set(a[:, k] / r[k, k])


@jax.jit
def _project(a, q, r, k):
    behind = jnp.arange(a.shape[1]) > k
    s = jnp.where(behind, q[:, k] @ a, 0)
    return a - q[:, k, None] * s, r.at[k].set(jnp.where(behind, s, r[k]))


@jax.jit
def gram_schmidt(a):
    def step(k, state):
        a, q, r = state
        r = _norms(a, r, k)
        q = _scale(a, q, r, k)
        a, r = _project(a, q, r, k)
        return a, q, r

    n = a.shape[1]
    start = a, jnp.zeros_like(a), jnp.zeros((n, n), a.dtype)
    return jax.lax.fori_loop(0, n, step, start)[1:]


def large(rng):
    return {"gram_schmidt": {"a": rng.random((400, 200), "f") - 0.5}}
