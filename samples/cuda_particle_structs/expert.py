"""Particles in a box by hand. What the dead ones hold is masked first: it may be an infinity, and the derivative by dt
adds up what it is multiplied with."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Particles(NamedTuple):
    x: jax.Array
    y: jax.Array
    vx: jax.Array
    vy: jax.Array
    alive: jax.Array


class Box(NamedTuple):
    width: float
    height: float
    damping: float


def _along(x, v, alive, dt, end, damping):
    v_alive = jnp.where(alive, v, 0)
    moved = x + dt * v_alive
    hit = (moved < 0) | (moved > end)
    v_new = jnp.where(hit, -damping * v, v)
    return jnp.where(alive, jnp.clip(moved, 0, end), x), jnp.where(alive, v_new, v)


@partial(jax.jit, static_argnames="count")
def move(particles, box, dt, count):
    alive = particles.alive != 0
    x, vx = _along(particles.x, particles.vx, alive, dt, box.width, box.damping)
    y, vy = _along(particles.y, particles.vy, alive, dt, box.height, box.damping)
    return particles._replace(x=x, y=y, vx=vx, vy=vy)


def large(rng):
    n = 300_000
    x, y, vx, vy = rng.random((4, n), "f")
    particles = Particles(x, 0.8 * y, 6 * vx - 3, 6 * vy - 3, rng.integers(0, 2, n).astype("int32"))
    return {"move": {"particles": particles, "box": Box(1.0, 0.8, 0.5), "dt": 0.25, "count": n}}
