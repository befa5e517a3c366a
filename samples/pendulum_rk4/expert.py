"""Runge-Kutta steps of pendulums by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="steps")
def pendulums(state, out, h, steps):
    def slope(y):
        return jnp.stack((y[1], -jnp.sin(y[0])))

    def step(_, y):
        k1 = slope(y)
        k2 = slope(y + 0.5 * h * k1)
        k3 = slope(y + 0.5 * h * k2)
        k4 = slope(y + h * k3)
        return y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

    return jax.lax.fori_loop(0, steps, step, state.T).T


def large(rng):
    state = rng.random((5000, 2), "f")
    return {"pendulums": {"state": state, "out": 0 * state, "h": 0.01, "steps": 100}}
