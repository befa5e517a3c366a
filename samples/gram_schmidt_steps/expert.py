"""The modified Gram-Schmidt method by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def gram_schmidt(a):
    j = jnp.arange(a.shape[1])

    def step(k, state):
        a, q, r = state
        norm = jnp.sqrt(a[:, k] @ a[:, k])
        column = a[:, k] / norm
        s = jnp.where(j > k, column @ a, 0)
        return a - column[:, None] * s, q.at[:, k].set(column), r.at[k].set(s.at[k].set(norm))

    n = a.shape[1]
    _, q, r = jax.lax.fori_loop(0, n, step, (a, jnp.zeros_like(a), jnp.zeros((n, n), a.dtype)))
    return q, r


def large(rng):
    return {"gram_schmidt": {"a": rng.random((400, 200), "f") - 0.5}}
