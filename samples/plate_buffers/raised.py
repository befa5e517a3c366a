"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Cooling of a plate with two buffers that a number chooses, until the largest change is small.
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


@jax.jit
def cool(plate, after, change, rate):
    """after[i, j] = plate[i, j] + rate * (around - 4.0 * plate[i, j])
        for 1 <= i < plate.shape[0] - 1, 1 <= j < plate.shape[1] - 1
    change[i, j] = abs(after[i, j] - plate[i, j])
        for 1 <= i < plate.shape[0] - 1, 1 <= j < plate.shape[1] - 1
    """
    rows, cols = plate.shape
    if 0 in plate.shape:
        return after, change
    plate_here = plate[1:-1, 1:-1]
    around = (
        plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
    )  # kernel.py:11
    after = after.at[1 : rows - 1, 1 : cols - 1].set(
        plate_here + rate * (around - 4.0 * plate_here)
    )  # kernel.py:12
    change = change.at[1 : rows - 1, 1 : cols - 1].set(
        jnp.abs(after[1 : rows - 1, 1 : cols - 1] - plate_here)
    )  # kernel.py:13
    return after, change


@partial(jax.jit, inline=True)
def cool_in_place(plate, change, rate):
    """cool, of which after is plate."""
    rows, cols = plate.shape
    if min(plate.shape) < 2:
        return plate, change
    plate_here = plate[1:-1, 1:-1]
    around = (
        plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
    )  # kernel.py:11
    inner = (plate_here + rate * (around - 4.0 * plate_here)).astype(
        plate.dtype
    )  # kernel.py:12
    plate = jnp.pad(inner, 1) + plate.at[1:-1, 1:-1].set(0)  # kernel.py:12
    change = change.at[1 : rows - 1, 1 : cols - 1].set(
        jnp.abs(inner - plate_here)
    )  # kernel.py:13
    return plate, change


@partial(jax.jit, static_argnames="most_steps")
def cool_plate(plate, rate, tolerance, most_steps):
    """the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    change = jnp.zeros_like(plate)

    def going(state):
        _, live = state
        return live

    def step(_, state):
        buffers_0, live = state
        buffers_1, change_2 = cool_in_place(buffers_0, change, rate)  # kernel.py:23
        live = ~(jnp.max(change_2) < tolerance)
        return buffers_1, live

    buffers_0, _ = checkpointed_while(
        0, most_steps, going, step, (plate, True)
    )  # kernel.py:22
    coolest = jnp.min(buffers_0[1:-1], axis=1)  # kernel.py:27
    return buffers_0, coolest
