"""A tone curve by hand."""

from functools import partial

import jax
import jax.numpy as jnp

CURVE = (0.0, 0.05, 0.13, 0.25, 0.40, 0.58, 0.78, 1.0)


@partial(jax.jit, static_argnames="count")
def tone_curve(in_, out, count):
    curve = jnp.asarray(CURVE, in_.dtype)
    t = in_[:count] * 7
    cell = jnp.clip(jnp.floor(t).astype(int), 0, 6)
    w = t - cell
    return out.at[:count].set((1 - w) * curve[cell] + w * curve[cell + 1])


def large(rng):
    x = rng.random(1_000_000, "f")
    return {"tone_curve": {"in_": x, "out": 0 * x, "count": x.size}}
