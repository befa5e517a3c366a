"""Loops whose rounds depend on nothing, by hand: they are counted when the module is read."""

import math

import jax
import jax.numpy as jnp


def _rounds():
    times, t = [], 0.0
    while t < 1.0:
        times.append(t)
        t += 0.1
    heats = [4.0]
    while heats[-1] * 0.7 >= 0.05:
        heats.append(heats[-1] * 0.7)
    return times, heats


TIMES, HEATS = _rounds()


@jax.jit
def exposure(rate, dose):
    return rate * sum(math.exp(-t) for t in TIMES)


@jax.jit
def cooled(x, y):
    def step(v, heat):
        return v - 0.1 * heat * jnp.sin(v), None

    return jax.lax.scan(step, x, jnp.array(HEATS, x.dtype))[0]
