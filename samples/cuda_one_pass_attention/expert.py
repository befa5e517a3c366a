"""Attention by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="keys")
def attend(query, key, value, out, keys, scale):
    q, k, v = (a.reshape(-1, 16) for a in (query, key, value))
    return (jax.nn.softmax(scale * (q @ k[:keys].T), axis=1) @ v[:keys]).ravel()


@partial(jax.jit, static_argnames=("n", "width"))
def attend_before(query, key, value, sum, logs, n, width):
    q, k, v = (a.reshape(n, width) for a in (query, key, value))
    scores = jnp.where(jnp.tri(n, dtype=bool), q @ k.T, -jnp.inf)
    return (jax.nn.softmax(scores, axis=1) @ v).ravel(), jax.nn.logsumexp(scores, axis=1)


def large(rng):
    q, k, v = (rng.random(16 * 1024, "f") for _ in range(3))
    many = {"query": q, "key": k, "value": v}
    a, b, c = (rng.random(64 * 700, "f") for _ in range(3))
    before = {"query": a, "key": b, "value": c, "sum": 0 * c, "logs": c[:700], "n": 700, "width": 64}
    return {
        "attend": many | {"out": 0 * q, "keys": 1024, "scale": 0.25, "grid": 64, "block": 16},
        "attend_before": before,
    }
