"""Gravity in the plane by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def gravity(ax, ay, body, n):
    x, y, mass = body[:n, 0], body[:n, 1], body[:n, 3]
    dx, dy = x - x[:, None], y - y[:, None]
    r2 = dx * dx + dy * dy
    apart = r2 >= 1e-6  # a body is not apart from itself
    s = jnp.where(apart, mass * jax.lax.rsqrt(jnp.where(apart, r2, 1)) ** 3, 0)
    return ax.at[:n].set((s * dx).sum(axis=1)), ay.at[:n].set((s * dy).sum(axis=1))


def large(rng):
    body = rng.random((700, 4), "f")
    return {"gravity": {"ax": body[:, 0], "ay": body[:, 1], "body": body, "n": 700}}
