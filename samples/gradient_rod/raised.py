"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Derivatives along a rod, one-sided at its ends, and a chain that is closed: plain loops and a numba kernel.
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
def derivative(u, h, du):
    """du[0] = (u[1] - u[0]) / h  where n >= 1
    du[n - 1] = (u[n - 1] - u[n - 2]) / h  where n >= 2
    du[i] = (u[i + 1] - u[i - 1]) / (2.0 * h)  for 1 <= i < n - 1
    """
    n = u.shape[0]
    if n == 0:
        return du
    return du.at[:n].set(
        jnp.concatenate(
            (
                ((u[1] - u[0]) / h)[None],
                (u[2:] - u[:-2]) / (2.0 * h),
                ((u[-1] - u[-2]) / h)[None],
            )
        )
        if n >= 2
        else ((u[1] - u[0]) / h)[None]
    )  # kernel.py:14


@partial(jax.jit, static_argnames="steps")
def relax(u, out, steps):
    """for j = 0 ... steps - 1:
        u[i] = 0.25 * u[i - 1] + 0.5 * u[i] + 0.25 * u[i + 1]  for 1 <= i < n - 1
    out[i] = u[i]  for 0 <= i < n, where steps > 0

    the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    n = u.shape[0]

    def step(_, u):
        return u.at[1:-1].set(
            0.25 * u[:-2] + 0.5 * u[1:-1] + 0.25 * u[2:]
        )  # kernel.py:30

    u = checkpointed_loop(0, steps, step, u)  # kernel.py:22
    out = out.at[:n].set(u) if steps > 0 else out  # kernel.py:27
    return u, out


@jax.jit
def ring(x, force, k):
    """force[i] = k * (x[(i + n - 1) % n] - 2.0 * x[i] + x[(i + 1) % n])  for 0 <= i < n"""
    n = x.shape[0]
    return force.at[:n].set(
        k * (jnp.roll(x, 1) - 2.0 * x + jnp.roll(x, -1))
    )  # kernel.py:41
