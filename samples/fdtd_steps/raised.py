"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Maxwell's equations in two dimensions on a staggered grid: three kernels a time step.
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
def update_hx(hx, ez, c):
    """hx[i, j] += -(c * (ez[i, j + 1] - ez[i, j]))  for 0 <= i < hx.shape[0], 0 <= j < hx.shape[1] - 1"""
    rows, cols = hx.shape
    return hx.at[:, :-1].add(
        -(c * (ez[:rows, 1:cols] - ez[:rows, : max(cols - 1, 0)]))
    )  # kernel.py:12


@jax.jit
def update_hy(hy, ez, c):
    """hy[i, j] += c * (ez[i + 1, j] - ez[i, j])  for 0 <= i < hy.shape[0] - 1, 0 <= j < hy.shape[1]"""
    rows, cols = hy.shape
    return hy.at[:-1].add(
        c * (ez[1:rows, :cols] - ez[: max(rows - 1, 0), :cols])
    )  # kernel.py:19


@jax.jit
def update_ez(ez, hx, hy, c):
    """
    ez[i, j] += c * (hy[i, j] - hy[i - 1, j] - hx[i, j] + hx[i, j - 1])
        for 1 <= i < ez.shape[0], 1 <= j < ez.shape[1]
    """
    rows, cols = ez.shape
    if 0 in ez.shape:
        return ez
    return ez.at[1:, 1:].add(
        c
        * (
            hy[1:rows, 1:cols]
            - hy[: rows - 1, 1:cols]
            - hx[1:rows, 1:cols]
            + hx[1:rows, : cols - 1]
        )
    )  # kernel.py:26


@partial(jax.jit, static_argnames="steps")
def simulate(ez, hx, hy, c, steps):
    """the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """

    def step(_, state):
        ez, hx, hy = state
        hx = update_hx(hx, ez, c)  # kernel.py:34
        hy = update_hy(hy, ez, c)  # kernel.py:35
        ez = update_ez(ez, hx, hy, c)  # kernel.py:36
        return ez, hx, hy

    return checkpointed_loop(0, steps, step, (ez, hx, hy))  # kernel.py:33
