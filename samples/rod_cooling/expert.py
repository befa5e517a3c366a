"""A rod that radiates by hand; the gradient keeps two roots of the states, as the sample's options ask, and runs the
steps again."""

from functools import partial

import jax


@partial(jax.jit, static_argnames="steps")
def rod_cooling(temp, heat, rate, steps):
    size = max(int(steps**0.5), 1)

    @partial(jax.checkpoint, prevent_cse=False)
    def step(_, u):
        mid = u[1:-1]
        return u.at[1:-1].set(mid + rate * (u[:-2] - 2.0 * mid + u[2:]) - heat * mid**4)

    @partial(jax.checkpoint, prevent_cse=False)
    def some(_, u):
        return jax.lax.fori_loop(0, size, step, u)

    temp = jax.lax.fori_loop(0, steps // size, some, temp)
    return jax.lax.fori_loop(0, steps % size, step, temp)


def large(rng):
    return {"rod_cooling": {"temp": 0.2 + 0.8 * rng.random(100_000, "f"), "heat": 0.01, "rate": 0.2, "steps": 30}}
