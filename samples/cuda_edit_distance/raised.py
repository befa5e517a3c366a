"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


def rounds_at_once(many):
    """How many rounds of a loop to unroll: a launch of a GPU costs more than a round, a CPU's cache prefers one."""
    return 1 if jax.default_backend() == "cpu" else many


@partial(jax.jit, static_argnames=("m", "n", "pairs"))
def edit_distance(s, t, gap, row, out, m, n, pairs):
    """Weighted edit distance of pairs of strings, one row of the table at a time.

    row[p, j] = j * gap[p]  for 0 <= p < pairs, 0 <= j < n + 1
    for i = 1 ... m:
        row[p, 0] = i * gap[p]  for 0 <= p < pairs
        diag, row_before = row.12[p, 0], i * gap[p]  for 0 <= p < pairs
        for j = 1 ... n:
            all at once:
                diag = row[p, j]
                row_out[p, j] = row_before = min(diag + (1.0 if s[p, i - 1] != t[p, j - 1] else
                    0.0), min(row[p, j], row_before) + gap[p])
        row[p, j] = row_out[p, j]  for 0 <= p < pairs, 1 <= j < n + 1
    out[p] = row[p, n]  for 0 <= p < pairs
    """
    if n < 0:
        raise ValueError(
            "edit_distance: a subscript or a bound would be negative: n >= 0 must hold"
        )
    row2 = jnp.arange(n + 1, dtype=jnp.float32) * gap[:pairs, None]  # kernel.cu:7
    s2 = s[: pairs * m].reshape(pairs, m)
    t2 = t[: pairs * n].reshape(pairs, n)

    def step(row2, inputs):
        i, s_before = inputs
        row_first = jnp.asarray(i, jnp.float32) * gap[:pairs]
        row2_2 = row2.at[:, 0].set(row_first)  # kernel.cu:10

        def step_2(state, inputs):
            diag, row_before = state
            row_j, t_before = inputs
            cost = jnp.where(s_before != t_before, 1.0, 0.0)  # kernel.cu:13
            row_new = jnp.minimum(
                diag + cost, jnp.minimum(row_j, row_before) + gap[:pairs]
            )
            return (row_j, row_new), row_new

        _, row_out = jax.lax.scan(
            step_2,
            (row2[:, 0], row_first),
            (row2_2[:, 1:].T, t2.T),
            unroll=rounds_at_once(32),
        )  # kernel.cu:11
        row2_2 = row2_2.at[:, 1:].set(row_out.T)  # kernel.cu:14
        return row2_2, None

    row2, _ = jax.lax.scan(step, row2, (jnp.arange(1, m + 1), s2.T))  # kernel.cu:8
    out = out.at[:pairs].set(row2[:, -1])  # kernel.cu:18
    row = row.at[: pairs * (n + 1)].set(row2.ravel())
    return row, out
