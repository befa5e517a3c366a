"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

A string that is plucked: a class keeps its state on the device.
"""

from functools import partial

import jax
import jax.numpy as jnp


def checkpointed_loop(start, stop, step, state):
    """``fori_loop`` whose rounds the gradient runs again; in segments of sqrt(n) rounds, where all states are many."""
    step = jax.checkpoint(step, prevent_cse=False)
    rounds = max(stop - start, 0)
    few = 2**22 if jax.default_backend() == "cpu" else 2**28
    if rounds * sum(map(jnp.size, jax.tree.leaves(state))) <= few:
        return jax.lax.fori_loop(start, stop, step, state)
    size = max(int(rounds**0.5), 1)

    def segment(k, state):
        first = start + k * size
        return jax.lax.fori_loop(0, size, lambda r, s: step(first + r, s), state)

    segment = jax.checkpoint(segment, prevent_cse=False)
    state = jax.lax.fori_loop(0, rounds // size, segment, state)
    return jax.lax.fori_loop(start + rounds // size * size, stop, step, state)


@jax.jit
def accelerate(shape, speed, stiffness, dt):
    """
    speed[i] += dt * stiffness * (shape[i - 1] - 2.0 * shape[i] + shape[i + 1])
        for 1 <= i < shape.shape[0] - 1
    """
    n = shape.shape[0]
    if n == 0:
        return speed
    return speed.at[1 : n - 1].add(
        dt * stiffness * (shape[:-2] - 2.0 * shape[1:-1] + shape[2:])
    )  # kernel.py:11


@jax.jit
def move(shape, speed, friction, dt):
    """speed[i] = speed[i] * (1.0 - dt * friction)  for 0 <= i < shape.shape[0]
    shape[i] += dt * speed[i]  for 0 <= i < shape.shape[0]
    """
    n = shape.shape[0]
    speed = speed.at[:n].multiply(1.0 - dt * friction)  # kernel.py:18
    shape = (shape + dt * speed[:n]).astype(shape.dtype)  # kernel.py:19
    return shape, speed


@jax.jit
def String_step(dt, stiffness, shape, speed, time):
    speed = accelerate(shape, speed, stiffness, dt)  # kernel.py:38
    shape, speed = move(shape, speed, 0.01, dt)  # kernel.py:39
    time = time + dt
    return shape, speed, time


@partial(jax.jit, static_argnames="steps")
def String_run(dt, stiffness, shape, speed, time, steps):
    """the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """

    def step(_, state):
        shape, speed, time = state
        return String_step(dt, stiffness, shape, speed, time)  # kernel.py:45

    shape, speed, time = checkpointed_loop(
        0, steps, step, (shape, speed, time)
    )  # kernel.py:44
    return shape, shape, speed, time


def String_init(shape, stiffness, dt=0.05):
    speed = jnp.zeros_like(shape)
    return dt, stiffness, shape, speed, 0.0
