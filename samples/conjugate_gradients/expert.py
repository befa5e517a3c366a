"""Conjugate gradients by hand: rounds after the last one change nothing, and divide by 1."""

from functools import partial

import jax
import jax.numpy as jnp


@jax.jit
def matvec(A, x, y):
    return A @ x


@jax.jit
def dot(a, b, out):
    return out.at[0].add(a @ b)


@jax.jit
def axpy(a, x, y):
    return y + a * x


@jax.jit
def xpby(x, b, y):
    return x + b * y


@partial(jax.jit, static_argnames="iters")
def cg(A, b, x, iters):
    def step(_, state):
        x, r, p, rs, live = state
        q = A @ p
        alpha = rs / jnp.where(live, p @ q, 1)
        new_r = r - alpha * q
        new_rs = new_r @ new_r
        moved = x + alpha * p, new_r, new_r + new_rs / jnp.where(live, rs, 1) * p, new_rs
        kept = jax.tree.map(lambda new, old: jnp.where(live, new, old), moved, (x, r, p, rs))
        return *kept, live & (kept[3] >= 1e-12)

    return jax.lax.fori_loop(0, iters, step, (x, b, b, b @ b, True))[0]


def large(rng):
    import numpy as np

    n = 600
    A = np.float32(2.01 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))
    x, y = rng.random((2, 1_000_000), "f")
    return {
        "matvec": {"A": x.reshape(1000, 1000), "x": y[:1000], "y": y[:1000]},
        "dot": {"a": x, "b": y, "out": x[:1]},
        "axpy": {"a": 0.5, "x": x, "y": y},
        "xpby": {"b": 0.5, "x": x, "y": y},
        "cg": {"A": A, "b": x[:n], "x": 0 * x[:n], "iters": 20},
    }
