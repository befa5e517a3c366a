"""Bouncing balls by hand."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Balls(NamedTuple):
    height: jax.Array
    speed: jax.Array
    bounces: jax.Array


class World(NamedTuple):
    gravity: float
    restitution: float


@partial(jax.jit, static_argnames="count")
def bounce(balls, world, dt, energy, count):
    speed = balls.speed - world.gravity * dt
    height = balls.height + speed * dt
    below = height < 0
    turned = jnp.where(below, -world.restitution, 1.0)
    height, speed = turned * height, turned * speed
    new = 0.5 * speed * speed + world.gravity * height
    return Balls(height, speed, balls.bounces + below), energy.at[:count].set(new)


def large(rng):
    n = 300_000
    height, speed, energy = rng.random((3, n), "f")
    balls = Balls(0.4 * height, 3 * speed - 2, rng.integers(0, 3, n).astype("int32"))
    return {"bounce": {"balls": balls, "world": World(9.8, 0.7), "dt": 0.1, "energy": energy, "count": n}}
