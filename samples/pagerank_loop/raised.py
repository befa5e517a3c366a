"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

PageRank by power iteration on a matrix in CSR form, until the change is small.
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
def spread_once(row_start, column, weight, out):
    """What spread makes of arrays that a loop leaves alone."""
    n = column.shape[0]
    m = weight.shape[0]
    out_size = out.shape[0]
    length = min(n, m)
    return jnp.cumsum(jnp.bincount(row_start[: out_size + 1], length=length)) - 1


@jax.jit
def spread_round(row, column, weight, rank, damping, out):
    """spread, of what spread_once made."""
    n = column.shape[0]
    m = weight.shape[0]
    out_size = out.shape[0]
    length = min(n, m)
    inside = (row >= 0) & (row < out_size)
    total = jax.ops.segment_sum(
        1.0 * jnp.where(inside, weight[:length], 0) * rank[column[:length]],
        row,
        out_size,
        indices_are_sorted=True,
    )  # kernel.py:12
    return ((1.0 - damping) / out_size + damping * total).astype(
        out.dtype
    )  # kernel.py:14


@jax.jit
def spread(row_start, column, weight, rank, damping, out):
    """out[i] = (1.0 - damping) / out.shape[0] + damping * total  for 0 <= i < out.shape[0]

    row_start must not decrease
    """
    row = spread_once(row_start, column, weight, out)
    return spread_round(row, column, weight, rank, damping, out)


@partial(jax.jit, static_argnames="max_iter")
def pagerank(row_start, column, weight, rank0, damping, tolerance, max_iter):
    """the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    row = spread_once(row_start, column, weight, rank0)

    def going(state):
        _, live = state
        return live

    def step(_, state):
        rank, live = state
        new = spread_round(row, column, weight, rank, damping, rank)  # kernel.py:24
        change = jnp.sum(jnp.abs(new - rank))  # kernel.py:25
        live = ~(change < tolerance)
        return new, live

    rank, _ = checkpointed_while(
        0, max_iter, going, step, (rank0, True)
    )  # kernel.py:23
    return rank
