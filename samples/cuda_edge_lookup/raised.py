"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


def rounds_at_once(many):
    """How many rounds of a loop to unroll: a launch of a GPU costs more than a round, a CPU's cache prefers one."""
    return 1 if jax.default_backend() == "cpu" else many


@partial(jax.jit, static_argnames="m")
def has_edge(row, col, from_, to, found, m):
    """lo, hi = row[from[e]], row[from[e] + 1] - 1  for 0 <= e < m
    for round = 0 ... bit_length(col.shape[0]) - 1:
        all at once:
            lo = (lo + hi) / 2 + 1 if lo <= hi and col[(lo + hi) / 2] < to[e] else lo
            hi = (lo + hi) / 2 - 1 if lo <= hi and col[(lo + hi) / 2] > to[e] else hi
    found[e] = 1 if lo <= hi else 0  for 0 <= e < m

    row must lie between 0 and col.shape[0]
    """
    n = col.shape[0]
    some_col = jnp.resize(col, max(n, 1))

    def step(_, state):
        lo, hi = state
        below = lo <= hi
        dividend = lo + hi
        mid = jax.lax.div(dividend, jnp.asarray(2, dividend.dtype))  # kernel.cu:9
        col_at = some_col.at[mid].get(mode="clip")
        return (
            jnp.where(below & (col_at < to[:m]), mid + 1, lo),
            jnp.where(below & (col_at > to[:m]), mid - 1, hi),
        )

    lo, hi = jax.lax.fori_loop(
        0, n.bit_length(), step, (row[from_[:m]], row[from_[:m] + 1] - 1)
    )  # kernel.cu:8
    return found.at[:m].set(jnp.where(lo <= hi, 1, 0))  # kernel.cu:19


@partial(jax.jit, static_argnames="n")
def whole_root(x, root, n):
    """lo, hi = 0, x[i] / 2 + 1  for 0 <= i < n
    for round = 0 ... 31:
        all at once:
            lo = mid if lo < hi and mid <= x[i] / mid else lo
            hi = mid - 1 if lo < hi and mid > x[i] / mid else hi
    root[i] = lo  for 0 <= i < n
    """
    hi = jax.lax.div(x[:n], jnp.asarray(2, x.dtype)) + 1  # kernel.cu:25

    def step(_, state):
        lo, hi_2 = state
        below = lo < hi_2
        dividend = hi_2 - lo + 1
        mid = lo + jax.lax.div(dividend, jnp.asarray(2, dividend.dtype))  # kernel.cu:27
        below_2 = mid <= jax.lax.div(x[:n], mid)
        return (
            jnp.where(below & below_2, mid, lo),
            jnp.where(below & ~below_2, mid - 1, hi_2),
        )

    lo, _ = jax.lax.fori_loop(
        0, 32, step, (jnp.zeros(n, jnp.int32), hi), unroll=rounds_at_once(32)
    )  # kernel.cu:26
    return root.at[:n].set(lo)  # kernel.cu:33


@partial(jax.jit, static_argnames="n")
def cube_root(a, x, n):
    """y, stopped = 1.0, False  for 0 <= i < n
    for round = 0 ... 19:
        all at once:
            y = y if stopped else y - (y * y * y - a[i]) / (3.0 * y * y)
            stopped = abs((y * y * y - a[i]) / (3.0 * y * y)) < 1e-06 or stopped
    x[i] = y  for 0 <= i < n
    """

    def step(_, state):
        y, stopped = state
        step_2 = (y * y * y - a[:n]) / jnp.where(
            stopped, 1.0, 3.0 * y * y
        )  # kernel.cu:42
        return jnp.where(stopped, y, y - step_2), (jnp.abs(step_2) < 1e-06) | stopped

    y, _ = jax.lax.fori_loop(
        0,
        20,
        jax.checkpoint(step, prevent_cse=False),
        (jnp.full(n, 1.0, a.dtype), jnp.zeros(n, bool)),
        unroll=rounds_at_once(32),
    )  # kernel.cu:41
    return x.at[:n].set(y)  # kernel.cu:47
