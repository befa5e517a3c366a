"""A fall with drag by hand."""

from functools import partial

import jax
import jax.numpy as jnp

GRAVITY = (0.0, 0.0, -9.81)


@partial(jax.jit, static_argnames="bodies")
def fall(position, velocity, drag, dt, bodies):
    v = velocity[: 3 * bodies].reshape(bodies, 3)
    v = (v + dt * (jnp.array(GRAVITY, v.dtype) - drag * v * jnp.abs(v))).ravel()
    return position.at[: 3 * bodies].add(dt * v), velocity.at[: 3 * bodies].set(v)
