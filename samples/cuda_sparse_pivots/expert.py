"""The diagonal of a sparse matrix and grades by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def pivots(row, col, a, d, at, n):
    p = jnp.arange(col.size, dtype=at.dtype)
    i = jnp.repeat(jnp.arange(n), jnp.diff(row[: n + 1]), total_repeat_length=col.size)
    first = jax.ops.segment_min(jnp.where(col == i, p, col.size), i, n, indices_are_sorted=True)
    found = first < col.size
    return (
        d.at[:n].set(jnp.where(found, a[first], 0)),
        at.at[:n].set(jnp.where(found, first, -1)),
    )


@partial(jax.jit, static_argnames=("n", "levels"))
def grade(mark, limit, grade, why, n, levels):
    mark, limit = mark[:n], limit[:levels]
    reached = mark[:, None] <= limit
    level = jnp.where(reached.any(axis=1), reached.argmax(axis=1), levels)
    reason = jnp.where(level == levels, 3, jnp.where(mark == limit[level], 2, 1))
    return grade.at[:n].set(level.astype(grade.dtype)), why.at[:n].set(reason.astype(why.dtype))


def large(rng):
    import numpy as np

    n = 20_000
    row = np.concatenate(([0], np.cumsum(rng.integers(1, 30, n)))).astype("int32")
    nearby = np.repeat(np.arange(n), np.diff(row)) + rng.integers(-5, 5, row[-1])
    matrix = {"row": row, "col": nearby.astype("int32"), "a": rng.random(row[-1], "f")}
    mark = rng.integers(0, 50, n).astype("f") / 8
    marks = {"mark": mark, "limit": np.arange(6, dtype="f"), "grade": row[:n], "why": row[:n]}
    return {
        "pivots": matrix | {"d": mark, "at": row[:n], "n": n},
        "grade": marks | {"n": n, "levels": 6},
    }
