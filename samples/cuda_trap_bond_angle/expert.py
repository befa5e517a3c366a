"""Angles of bonded triples by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="m")
def bond_angle(e, x, a, b, c, m):
    place = x.reshape(-1, 2)
    u, v = place[a[:m]] - place[b[:m]], place[c[:m]] - place[b[:m]]
    uu, vv = (u * u).sum(axis=1), (v * v).sum(axis=1)
    collapsed = (uu < 1e-12) | (vv < 1e-12)
    cosine = (u * v).sum(axis=1) / jnp.sqrt(jnp.where(collapsed, 1, uu * vv))
    return e.at[:m].set(jnp.where(collapsed, 0, jnp.arccos(jnp.clip(cosine, -0.9999, 0.9999))))


def large(rng):
    m, n = 100_000, 20_000
    a, b, c = rng.integers(0, n, (3, m)).astype("int32")
    return {"bond_angle": {"e": rng.random(m), "x": rng.random(2 * n), "a": a, "b": b, "c": c, "m": m}}
