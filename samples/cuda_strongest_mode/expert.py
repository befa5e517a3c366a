"""Power iteration with damping by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def damp(v, d, out, n):
    return out.at[:n].add(d[:n] * v[:n])


@partial(jax.jit, static_argnames=("n", "rounds"))
def strongest_mode(a, d, v, history, n, rounds):
    matrix = a.reshape(n, n).T

    def turn(v, _):
        new = matrix @ v + d * v
        length = jnp.linalg.norm(new)
        new = new / length
        return new / (1.0 + jnp.abs(new) / 8.0), length

    v, lengths = jax.lax.scan(turn, jnp.ones_like(v), length=rounds)
    return v, history.at[:rounds].set(lengths)


def large(rng):
    n = 500
    a, (d, v) = rng.random(n * n, "f"), rng.random((2, n), "f")
    b, c, out = rng.random((3, 300_000), "f")
    return {
        "damp": {"v": b, "d": c, "out": out, "n": b.size},
        "strongest_mode": {"a": a, "d": d, "v": v, "history": v[:20], "n": n, "rounds": 20},
    }
