"""A plucked string by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@jax.jit
def accelerate(shape, speed, stiffness, dt):
    return speed.at[1:-1].add(dt * stiffness * (shape[:-2] - 2.0 * shape[1:-1] + shape[2:]))


@jax.jit
def move(shape, speed, friction, dt):
    speed = (1.0 - dt * friction) * speed
    return shape + dt * speed, speed


@jax.jit
def String_step(dt, stiffness, shape, speed, time):
    speed = accelerate(shape, speed, stiffness, dt)
    return *move(shape, speed, 0.01, dt), time + dt


@partial(jax.jit, static_argnames="steps")
def String_run(dt, stiffness, shape, speed, time, steps):
    def step(_, state):
        return String_step(dt, stiffness, *state)

    shape, speed, time = jax.lax.fori_loop(0, steps, step, (shape, speed, jnp.asarray(time, float)))
    return shape, shape, speed, time


def large(rng):
    shape, speed = rng.random((2, 200_000), "f")
    string = {"shape": shape, "speed": speed}
    return {
        "accelerate": string | {"stiffness": 0.75, "dt": 0.125},
        "move": string | {"friction": 0.2, "dt": 0.125},
        "String_step": string | {"stiffness": 0.75, "dt": 0.125, "time": 0.5},
        "String_run": string | {"stiffness": 0.75, "dt": 0.125, "time": 0.5, "steps": 20},
    }
