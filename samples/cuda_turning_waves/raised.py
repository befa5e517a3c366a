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


@partial(jax.jit, static_argnames=("n", "steps"))
def string_wave(u0, u1, u2, n, steps):
    """for t = 0 ... steps // 3 - 1:
        u2[i] = 2.0 * u1[i] - u0[i] + 0.1 * (u1[i - 1] - 2.0 * u1[i] + u1[i + 1])  for 1 <= i < n - 1
        u0[i] = 2.0 * u2[i] - u1[i] + 0.1 * (u2[i - 1] - 2.0 * u2[i] + u2[i + 1])  for 1 <= i < n - 1
        u1[i] = 2.0 * u0[i] - u2[i] + 0.1 * (u0[i - 1] - 2.0 * u0[i] + u0[i + 1])  for 1 <= i < n - 1
    u2[i] = 2.0 * u1[i] - u0[i] + 0.1 * (u1[i - 1] - 2.0 * u1[i] + u1[i + 1])
        for 1 <= i < n - 1, where steps > 0 and steps % 3 > 0
    u0[i] = 2.0 * u2[i] - u1[i] + 0.1 * (u2[i - 1] - 2.0 * u2[i] + u2[i + 1])
        for 1 <= i < n - 1, where steps > 0 and steps % 3 == 2

    the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    if n < 2:
        return u0, u1, u2

    def step(_, state):
        u0, u1, u2 = state
        u2 = u2.at[1 : n - 1].set(
            2.0 * u1[1 : n - 1]
            - u0[1 : n - 1]
            + 0.1 * (u1[: n - 2] - 2.0 * u1[1 : n - 1] + u1[2:n])
        )  # kernel.cu:8
        u0 = u0.at[1 : n - 1].set(
            2.0 * u2[1 : n - 1]
            - u1[1 : n - 1]
            + 0.1 * (u2[: n - 2] - 2.0 * u2[1 : n - 1] + u2[2:n])
        )  # kernel.cu:8
        u1 = u1.at[1 : n - 1].set(
            2.0 * u0[1 : n - 1]
            - u2[1 : n - 1]
            + 0.1 * (u0[: n - 2] - 2.0 * u0[1 : n - 1] + u0[2:n])
        )  # kernel.cu:8
        return u0, u1, u2

    u0, u1, u2 = checkpointed_loop(0, steps // 3, step, (u0, u1, u2))  # kernel.cu:7
    u2 = (
        u2.at[1 : n - 1].set(
            2.0 * u1[1 : n - 1]
            - u0[1 : n - 1]
            + 0.1 * (u1[: n - 2] - 2.0 * u1[1 : n - 1] + u1[2:n])
        )
        if steps > 0 and steps % 3 > 0
        else u2
    )  # kernel.cu:8
    u0 = (
        u0.at[1 : n - 1].set(
            2.0 * u2[1 : n - 1]
            - u1[1 : n - 1]
            + 0.1 * (u2[: n - 2] - 2.0 * u2[1 : n - 1] + u2[2:n])
        )
        if steps > 0 and steps % 3 == 2
        else u0
    )  # kernel.cu:8
    return u0, u1, u2


@partial(jax.jit, static_argnames=("n", "rounds"))
def relax_pressure(p, q, last, rhs, n, rounds):
    """the ends of the row are left as they are

    for r = 0 ... rounds // 2 - 1:
        q[i] = 0.5 * (p[i - 1] + p[i + 1] - rhs[i])  for 1 <= i < n - 1
        p[i] = 0.5 * (q[i - 1] + q[i + 1] - rhs[i])  for 1 <= i < n - 1
    q[i] = 0.5 * (p[i - 1] + p[i + 1] - rhs[i])
        for 1 <= i < n - 1, where rounds > 0 and rounds % 2 == 1
    last[i] = q[i] if rounds > 0 and rounds % 2 == 1 else p[i]  for 0 <= i < n

    the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    if n < 1:
        return p, q, last
    rhs_here = rhs[1 : n - 1]

    def step(_, state):
        p, q = state
        q = q.at[1 : n - 1].set(
            0.5 * (p[: max(n - 2, 0)] + p[2:n] - rhs_here)
        )  # kernel.cu:21
        p = p.at[1 : n - 1].set(
            0.5 * (q[: max(n - 2, 0)] + q[2:n] - rhs_here)
        )  # kernel.cu:21
        return p, q

    p, q = checkpointed_loop(0, rounds // 2, step, (p, q))  # kernel.cu:20
    q = (
        q.at[1 : n - 1].set(0.5 * (p[: max(n - 2, 0)] + p[2:n] - rhs_here))
        if rounds > 0 and rounds % 2 == 1
        else q
    )  # kernel.cu:21
    last = last.at[:n].set(
        jnp.where((rounds > 0) & (rounds % 2 == 1), q[:n], p[:n])
    )  # kernel.cu:25
    return p, q, last


@jax.jit
def sort_pairs(x, y):
    """s[t] = x[t]  for 0 <= t < 64
    s[t] = sorted_t(s[t])  for 0 <= t < 64
    y[t] = s[t]  for 0 <= t < 64

    a block has 32 threads along x
    """
    s = x[:64]  # kernel.cu:31
    s = jnp.sort(s)  # kernel.cu:34
    return y.at[:64].set(s)  # kernel.cu:43
