"""Jacobi iteration until converged, by hand: rounds after the last one change nothing."""

from functools import partial

import jax
import jax.numpy as jnp


def _sweep(u, f):
    return 0.25 * (u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1] + f[1:-1, 1:-1])


@partial(jax.jit, static_argnames="n")
def sweep(u, v, f, n):
    u, v, f = (a.reshape(n, n) for a in (u, v, f))
    return v.at[1:-1, 1:-1].set(_sweep(u, f)).ravel()


@partial(jax.jit, static_argnames="n")
def row_change(u, v, change, n):
    return jnp.abs(u - v).reshape(n, n).sum(axis=1)


@partial(jax.jit, static_argnames=("n", "max_iter"))
def solve(u, f, n, tolerance, max_iter):
    f = f.reshape(n, n)

    def step(_, state):
        u, rounds, live = state
        new = u.at[1:-1, 1:-1].set(_sweep(u, f))
        converged = jnp.abs(u - new).sum() <= tolerance
        return jnp.where(live, new, u), rounds + live, live & ~converged

    u, rounds, _ = jax.lax.fori_loop(0, max_iter, step, (u.reshape(n, n), 0, True))
    return rounds, u.ravel()


def large(rng):
    n = 200
    u, v, f = rng.random((3, n * n), "f")
    return {
        "sweep": {"u": u, "v": v, "f": f, "n": n},
        "row_change": {"u": u, "v": v, "change": u[:n], "n": n},
        "solve": {"u": u, "f": 0.01 * f, "n": n, "tolerance": 700.0, "max_iter": 40},
    }
