"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

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


def checkpointed_while(start, stop, live, step, state):
    """``checkpointed_loop`` that ends once ``live(state)`` is false.

    A GPU is asked every 8 rounds: an answer takes longer than a small round.
    """

    def where(more, a, b):
        return jax.tree.map(lambda x, y: jnp.where(more, x, y), a, b)

    def together(r, first):
        state = step(r, first)
        for k in range(1, 8):
            more = live(state) & (r + k < stop)
            made = step(r + k * more, where(more, state, first))
            state = where(more, made, state)
        return state

    def again(rounds, r, state):
        return jax.lax.cond(live(state), rounds, lambda _, s: s, r, state)

    if jax.default_backend() == "cpu":
        return checkpointed_loop(start, stop, lambda r, s: again(step, r, s), state)
    groups = -((start - stop) // 8)
    return checkpointed_loop(
        0, groups, lambda g, s: again(together, start + 8 * g, s), state
    )


@partial(jax.jit, static_argnames="n")
def sweep(u, v, f, n):
    """Jacobi iteration until the sum of the changes is small

    v[y, x] = 0.25 * (u[y, x - 1] + u[y, x + 1] + u[y - 1, x] + u[y + 1, x] + f[y, x])
        for 1 <= x < n - 1, 1 <= y < n - 1
    """
    u2 = u[: n * n].reshape(n, n)
    f2 = f[: n * n].reshape(n, n)
    v2 = v[: n * n].reshape(n, n)
    v2 = v2.at[1:-1, 1:-1].set(
        0.25
        * (u2[1:-1, :-2] + u2[1:-1, 2:] + u2[:-2, 1:-1] + u2[2:, 1:-1] + f2[1:-1, 1:-1])
    )  # kernel.cu:7
    return v.at[: n * n].set(v2.ravel())


@partial(jax.jit, static_argnames="n")
def row_change(u, v, change, n):
    """change[y] = sum_x abs(u[y, x] - v[y, x])  for 0 <= y < n"""
    u2 = u[: n * n].reshape(n, n)
    v2 = v[: n * n].reshape(n, n)
    return change.at[:n].set(jnp.sum(jnp.abs(u2 - v2), axis=1))  # kernel.cu:16


@partial(jax.jit, static_argnames="n")
def solve_loop(change, n, error):
    """returns error + sum_y change[y]"""
    return error + jnp.sum(change[:n])  # kernel.cu:39


@partial(jax.jit, static_argnames="n", inline=True)
def sweep_in_place(u, f, n):
    """sweep, of which v is u."""
    if n < 2:
        return u
    u2 = u[: n * n].reshape(n, n)
    f2 = f[: n * n].reshape(n, n)
    inner = 0.25 * (
        u2[1:-1, :-2] + u2[1:-1, 2:] + u2[:-2, 1:-1] + u2[2:, 1:-1] + f2[1:-1, 1:-1]
    )  # kernel.cu:7
    u2 = jnp.pad(inner, 1) + u2.at[1:-1, 1:-1].set(0)  # kernel.cu:7
    return u.at[: n * n].set(u2.ravel())


@partial(jax.jit, static_argnames=("n", "max_iter"))
def solve(u, f, n, tolerance, max_iter):
    """the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    d_change = jnp.zeros(n, u.dtype)
    d_u = u[: n * n]
    d_f = f[: n * n]
    error = 2.0 * tolerance

    def live(state):
        _, error, _ = state
        return error > tolerance

    def step(_, state):
        d_u, error, it = state
        d_v = sweep_in_place(d_u, d_f, n)  # kernel.cu:35
        d_change_2 = row_change(d_u, d_v, d_change, n)  # kernel.cu:36
        error = solve_loop(d_change_2, n, 0.0)  # kernel.cu:39
        it = it + 1
        return d_v, error, it

    d_u, _, it = checkpointed_while(
        0, max_iter, live, step, (d_u, jnp.asarray(error, u.dtype), 0)
    )  # kernel.cu:34
    u = u.at[: n * n].set(d_u)
    return it, u
