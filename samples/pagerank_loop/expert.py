"""PageRank until the change is small, by hand: rounds after the last one change nothing."""

from functools import partial

import jax
import jax.numpy as jnp


def _spread(row_start, column, weight, damping):
    n = row_start.size - 1
    row = jnp.repeat(jnp.arange(n), jnp.diff(row_start), total_repeat_length=column.size)

    def of(rank):
        total = jax.ops.segment_sum(weight * rank[column], row, n, indices_are_sorted=True)
        return (1.0 - damping) / n + damping * total

    return of


@jax.jit
def spread(row_start, column, weight, rank, damping, out):
    return _spread(row_start, column, weight, damping)(rank)


@partial(jax.jit, static_argnames="max_iter")
def pagerank(row_start, column, weight, rank0, damping, tolerance, max_iter):
    spread = _spread(row_start, column, weight, damping)

    def turn(_, state):
        rank, live = state
        new = spread(rank)
        change = jnp.abs(new - rank).sum()
        return jnp.where(live, new, rank), live & ~(change < tolerance)

    return jax.lax.fori_loop(0, max_iter, turn, (rank0, True))[0]


def large(rng):
    import numpy as np

    n = 10_000
    row_start = np.concatenate(([0], np.cumsum(rng.integers(0, 20, n)))).astype("int32")
    column = rng.integers(0, n, row_start[-1]).astype("int32")
    graph = {"row_start": row_start, "column": column, "weight": 0.1 * rng.random(column.size, "f")}
    rank, out = rng.random((2, n), "f")
    return {
        "spread": graph | {"rank": rank, "damping": 0.85, "out": out},
        "pagerank": graph | {"rank0": rank, "damping": 0.85, "tolerance": 1e-3, "max_iter": 20},
    }
