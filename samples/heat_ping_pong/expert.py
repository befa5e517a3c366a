"""Heat in a rod by hand: two steps a round where the ends of the two buffers differ."""

from functools import partial

import jax


def _spread(u, c):
    return u[1:-1] + c * (u[:-2] - 2.0 * u[1:-1] + u[2:])


@partial(jax.jit, static_argnames="n")
def diffuse(u, v, n, c):
    return v.at[1 : n - 1].set(_spread(u[:n], c))


@partial(jax.jit, static_argnames="steps")
def heat(u0, steps, c):
    return jax.lax.fori_loop(0, steps, lambda _, u: u.at[1:-1].set(_spread(u, c)), u0)


@partial(jax.jit, static_argnames="steps")
def heat_in_place(u, v, steps, c):
    def two(_, pair):
        u, v = pair
        v = v.at[1:-1].set(_spread(u, c))
        return u.at[1:-1].set(_spread(v, c)), v

    u, v = jax.lax.fori_loop(0, steps // 2, two, (u, v))
    return (u, v.at[1:-1].set(_spread(u, c))) if steps % 2 else (u, v)


def large(rng):
    u, v = rng.random((2, 200_000), "f")
    return {
        "diffuse": {"u": u, "v": v, "n": u.size - 9, "c": 0.2},
        "heat": {"u0": u, "steps": 20, "c": 0.2},
        "heat_in_place": {"u": u, "v": v, "steps": 21, "c": 0.2},
    }
