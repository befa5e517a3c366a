"""A rod's temperatures from its conductivity, and their misfit, by hand."""

from functools import partial

import jax
import jax.numpy as jnp


def _conducted(u, k, dt):
    flow = k[: u.size - 1] * jnp.diff(u)
    return u[1:-1] + dt * jnp.diff(flow)


@jax.jit
def conduct(u, v, k, dt):
    return v.at[1:-1].set(_conducted(u, k, dt))


@jax.jit
def square_error(u, measured, error):
    return (u - measured) ** 2


@partial(jax.jit, static_argnames="steps")
def misfit(u0, k, measured, error, dt, steps):
    def step(_, u):
        return u.at[1:-1].set(_conducted(u, k, dt))

    return (jax.lax.fori_loop(0, steps, step, u0) - measured) ** 2


def large(rng):
    u, v, k, measured = rng.random((4, 200_000), "f")
    return {
        "conduct": {"u": u, "v": v, "k": k[1:], "dt": 0.2},
        "square_error": {"u": u, "measured": measured, "error": v},
        "misfit": {"u0": u, "k": k[1:], "measured": measured, "error": v, "dt": 0.2, "steps": 20},
    }
