"""A softmax, a step of conjugate gradients and a clipped copy with its peak, by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="cols")
def softmax_rows(x, y, cols):
    return jax.nn.softmax(x.reshape(-1, cols), axis=1).ravel()


@partial(jax.jit, static_argnames="n")
def cg_step(x, r, p, q, alpha, rr, n):
    rest = r[:n] - alpha * q[:n]
    return x.at[:n].add(alpha * p[:n]), r.at[:n].set(rest), rr.at[0].add(rest @ rest)


@partial(jax.jit, static_argnames="n")
def clipped(x, y, peak, limit, n):
    return y.at[:n].set(jnp.clip(x[:n], -limit, limit)), peak.at[0].max(jnp.abs(x[:n]).max())


def large(rng):
    x, r, p, q = rng.random((4, 500_000), "f")
    n, launch = x.size - 9, {"grid": 500, "block": 128}
    return {
        "softmax_rows": {"x": x, "y": r, "cols": 500, "grid": 1000, "block": 128},
        "cg_step": {"x": x, "r": r, "p": p, "q": q, "alpha": 0.3, "rr": x[:1], "n": n} | launch,
        "clipped": {"x": 2 * x - 1, "y": r, "peak": 0 * x[:1], "limit": 0.5, "n": n} | launch,
    }
