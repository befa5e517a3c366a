"""Angles between pairs of vectors by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def vector_angle(theta, u, v):
    uu, vv = (u * u).sum(axis=1), (v * v).sum(axis=1)
    none = (uu < 1e-12) | (vv < 1e-12)
    c = (u * v).sum(axis=1) * jax.lax.rsqrt(jnp.where(none, 1, uu * vv))
    inner = ~none & (jnp.abs(c) <= 0.999)
    angle = jnp.arccos(jnp.where(inner, c, 0))
    return jnp.where(inner, angle, jnp.where(~none & (c < 0), jnp.pi, 0))


def large(rng):
    u, v = rng.random((2, 100_000, 2)) - 0.5
    return {"vector_angle": {"theta": u[:, 0], "u": u, "v": v}}
