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


def checkpointed_while(start, stop, live, step, state, known):
    """``checkpointed_loop`` that ends once ``live(state, *known)`` is false.

    The values ask a GPU every 8 rounds: an answer takes longer than a small round.
    """

    def plain(state, *known):
        def advance(r, state):
            more = live(state, *known)
            return jax.lax.cond(more, lambda s: step(r, s, *known), lambda s: s, state)

        return checkpointed_loop(start, stop, advance, state)

    @jax.custom_jvp
    def values(state, *known):
        def several(r, first):
            def one(k, state):
                more = live(state, *known) & (r + k < stop)

                def where(a, b):
                    return jax.tree.map(lambda x, y: jnp.where(more, x, y), a, b)

                return where(step(r + k * more, where(state, first), *known), state)

            return jax.lax.fori_loop(0, 8, one, first)

        def advance(g, state):
            more = live(state, *known)
            return jax.lax.cond(more, several, lambda _, s: s, start + 8 * g, state)

        return jax.lax.fori_loop(0, -((start - stop) // 8), advance, state)

    @values.defjvp
    def derivative(primals, tangents):
        return jax.jvp(plain, primals, tangents)

    run = plain if jax.default_backend() == "cpu" else values
    return run(state, *known)


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

    def going(state, column, weight, damping, tolerance, row):
        _, live = state
        return live

    def step(_, state, column, weight, damping, tolerance, row):
        rank, live = state
        new = spread_round(row, column, weight, rank, damping, rank)  # kernel.py:24
        change = jnp.sum(jnp.abs(new - rank))  # kernel.py:25
        live = ~(change < tolerance)
        return new, live

    rank, _ = checkpointed_while(
        0,
        max_iter,
        going,
        step,
        (rank0, True),
        (column, weight, damping, tolerance, row),
    )  # kernel.py:23
    return rank
