"""Reachability and widest ways by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def closure(r, w, n):
    def step(k, state):
        r, w = state
        return r | (r[:, k, None] & r[k]), jnp.maximum(w, jnp.minimum(w[:, k, None], w[k]))

    r, w = jax.lax.fori_loop(0, n, step, (r.reshape(n, n), w.reshape(n, n)))
    return r.ravel(), w.ravel()


def large(rng):
    n = 300
    return {"closure": {"r": (rng.random(n * n) < 0.01).astype("uint32"), "w": rng.random(n * n, "f"), "n": n}}
