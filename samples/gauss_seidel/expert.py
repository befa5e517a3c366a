"""Sweeps that use what they have just computed, by hand."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@partial(jax.jit, static_argnames="sweeps")
def rod(u, f, sweeps):
    def cell(left, inputs):
        right, force = inputs
        new = 0.5 * (left + right + force)
        return new, new

    def sweep(_, u):
        return u.at[1:-1].set(jax.lax.scan(cell, u[0], (u[2:], f[1:-1]))[1])

    return jax.lax.fori_loop(0, sweeps, sweep, u)


@partial(jax.jit, static_argnames="sweeps")
def plate(u, f, sweeps):
    def cell(left, rest):
        new = 0.25 * (left + rest)
        return new, new

    def row(above, inputs):
        here, below, force = inputs
        rest = above[1:-1] + below[1:-1] + here[2:] + force[1:-1]
        new = here.at[1:-1].set(jax.lax.scan(cell, here[0], rest)[1])
        return new, new

    def sweep(_, u):
        return u.at[1:-1].set(jax.lax.scan(row, u[0], (u[1:-1], u[2:], f[1:-1]))[1])

    return jax.lax.fori_loop(0, sweeps, sweep, u)


@partial(jax.jit, static_argnames="sweeps")
def dense(A, b, x, sweeps):
    k = jnp.arange(x.size)

    def cell(i, x):  # what x[i] was is not looked at
        rest = jnp.where(k != i, A[i] * jnp.where(k != i, x, 0), 0).sum()
        return x.at[i].set((b[i] - rest) / A[i, i])

    def sweep(_, x):
        return jax.lax.fori_loop(0, x.size, cell, x)

    return jax.lax.fori_loop(0, sweeps, sweep, x)


def large(rng):
    A = rng.random((300, 300)) + 300 * np.eye(300)
    return {
        "rod": {"u": rng.random(2000), "f": rng.random(2000), "sweeps": 5},
        "plate": {"u": rng.random((200, 300)), "f": rng.random((200, 300)), "sweeps": 2},
        "dense": {"A": A, "b": rng.random(300), "x": rng.random(300), "sweeps": 5},
    }
