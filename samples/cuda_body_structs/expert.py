"""Gravity between bodies by hand; the factors in the source's order: a cube of its own overflows for close bodies."""

from functools import partial
from typing import NamedTuple

import jax


class Body(NamedTuple):
    x: jax.Array
    y: jax.Array
    vx: jax.Array
    vy: jax.Array
    mass: jax.Array


@partial(jax.jit, static_argnames="n")
def kick(bodies, n, dt, softening):
    dx, dy = bodies.x - bodies.x[:, None], bodies.y - bodies.y[:, None]
    inv = jax.lax.rsqrt(dx * dx + dy * dy + softening)
    vx = bodies.vx + dt * (dx * inv * inv * inv) @ bodies.mass
    vy = bodies.vy + dt * (dy * inv * inv * inv) @ bodies.mass
    return bodies._replace(vx=vx, vy=vy)


@partial(jax.jit, static_argnames="n")
def drift(bodies, n, dt):
    return bodies._replace(x=bodies.x + dt * bodies.vx, y=bodies.y + dt * bodies.vy)


@partial(jax.jit, static_argnames=("n", "steps"))
def simulate(host_x, host_y, host_vx, host_vy, host_mass, n, steps, dt):
    @jax.checkpoint  # not all pairs of all steps are kept
    def step(_, bodies):
        return drift(kick(bodies, n, dt, 0.1), n, dt)

    bodies = jax.lax.fori_loop(0, steps, step, Body(host_x, host_y, host_vx, host_vy, host_mass))
    energy = 0.5 * bodies.mass @ (bodies.vx**2 + bodies.vy**2)
    return energy, *bodies


def large(rng):
    n = 600
    bodies = Body(*rng.random((5, n), "f"))
    host = {f"host_{name}": values for name, values in bodies._asdict().items()}
    return {
        "kick": {"bodies": bodies, "n": n, "dt": 0.1, "softening": 0.2},
        "drift": {"bodies": bodies, "n": n, "dt": 0.1},
        "simulate": host | {"n": n, "steps": 8, "dt": 0.001},
    }
