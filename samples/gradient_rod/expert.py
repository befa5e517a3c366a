"""Derivatives along a rod and a closed chain by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@jax.jit
def derivative(u, h, du):
    step = jnp.diff(u) / h
    return jnp.concatenate((step[:1], 0.5 * (step[:-1] + step[1:]), step[-1:]))


@partial(jax.jit, static_argnames="steps")
def relax(u, out, steps):
    def step(_, u):
        return u.at[1:-1].set(0.25 * u[:-2] + 0.5 * u[1:-1] + 0.25 * u[2:])

    u = jax.lax.fori_loop(0, steps, step, u)
    return u, u if steps > 0 else out


@jax.jit
def ring(x, force, k):
    return k * (jnp.roll(x, 1) - 2.0 * x + jnp.roll(x, -1))


def large(rng):
    u, out = rng.random((2, 500_000), "f")
    return {
        "derivative": {"u": u, "h": 0.1, "du": out},
        "relax": {"u": u[:1024], "out": out[:1024], "steps": 50},
        "ring": {"x": u, "force": out, "k": 1.5},
    }
