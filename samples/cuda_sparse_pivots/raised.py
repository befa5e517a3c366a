"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def pivots(row, col, a, d, at, n):
    """at[i] = min_(row[i] <= p < row[i + 1] where col[p] == i)(p) if min_(row[i] <= p < row[i + 1]
        where col[p] == i)(p) < row[i + 1] else -1
        for 0 <= i < n
    d[i] = a[min_(row[i] <= p < row[i + 1] where col[p] == i)(p)] if min_(row[i] <= p < row[i + 1]
        where col[p] == i)(p) < row[i + 1] else 0.0
        for 0 <= i < n

    row must not decrease
    """
    m = col.shape[0]
    row_2 = jnp.cumsum(jnp.bincount(row[: n + 1], length=m)) - 1
    p = jnp.arange(m)
    row_min = jax.ops.segment_min(
        jnp.where(col == row_2.astype(jnp.int32), p, jnp.iinfo(jnp.int32).max),
        row_2,
        n,
        indices_are_sorted=True,
    )
    below = row_min < row[1 : n + 1]
    at = at.at[:n].set(jnp.where(below, row_min, -1))  # kernel.cu:8
    some_a = jnp.resize(a, max(a.shape[0], 1))
    d = d.at[:n].set(
        jnp.where(below, some_a.at[row_min].get(mode="clip"), 0.0)
    )  # kernel.cu:8
    return d, at


@partial(jax.jit, static_argnames=("n", "levels"))
def grade(mark, limit, grade, why, n, levels):
    """grade[i] = argmax_j(mark[i] <= limit[j]) if any_j(mark[i] <= limit[j]) else levels  for 0 <= i < n
    why[i] = (1 if mark[i] < limit[argmax_j(mark[i] <= limit[j])] else 2) if any_j(mark[i] <=
        limit[j]) else 3
        for 0 <= i < n
    """
    below = mark[:n, None] <= limit[:levels]
    any_ = below.any(axis=1)
    argmax = below.argmax(axis=1) if levels > 0 else jnp.zeros(n, int)
    grade = grade.at[:n].set(
        jnp.where(any_, argmax, levels).astype(grade.dtype)
    )  # kernel.cu:21
    some_limit = jnp.resize(limit, max(limit.shape[0], 1))
    why = why.at[:n].set(
        jnp.where(
            any_, jnp.where(mark[:n] < some_limit.at[argmax].get(mode="clip"), 1, 2), 3
        )
    )  # kernel.cu:25
    return grade, why
