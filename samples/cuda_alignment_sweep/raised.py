"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


def by_diagonals(a, count, slope=1):
    """Row w < count holds a[i, w - slope * i] for each i, zero where there is none."""
    rows = a.shape[0]
    more = max(count + slope - a.shape[1], 0)
    wide = jnp.pad(a, ((0, 0), (0, more)))
    return wide.ravel()[: rows * count].reshape(rows, count).T


def from_diagonals(a, cols, slope=1):
    """Cell (i, j) of the result is a[slope * i + j, i], for 0 <= j < cols."""
    rows = a.shape[1]
    flat = jnp.pad(a.T.ravel(), (0, slope * rows))
    return flat.reshape(rows, slope * rows + cols)[:, :cols]


def rounds_at_once(many):
    """How many rounds of a loop to unroll: a launch of a GPU costs more than a round, a CPU's cache prefers one."""
    return 1 if jax.default_backend() == "cpu" else many


@partial(jax.jit, static_argnames="n")
def sweep(score, first, second, n, m, d, gap):
    """score[i * m + d + m] = max(0, max(best, score[i * m + d - 2] + same))
        for 0 <= i < n, where d - i - 1 >= 1 and d - i - 1 <= m

    2 <= d < m + n + 1, as in the loop that launches it
    """
    i = jnp.arange(n)
    total = i * m + d
    difference = d - i - 1
    best = (
        jnp.maximum(
            score.at[total - 1].get(mode="clip"),
            score.at[total + m - 1].get(mode="clip"),
        )
        - gap
    )  # kernel.cu:9
    same = jnp.where(
        first[:n] == second.at[d - i - 2].get(mode="clip"), 2, -1
    )  # kernel.cu:8
    return score.at[
        jnp.where((difference >= 1) & (difference <= m), total + m, score.shape[0])
    ].set(
        jnp.maximum(0, jnp.maximum(best, score.at[total - 2].get(mode="clip") + same)),
        mode="drop",
    )  # kernel.cu:10


@partial(jax.jit, static_argnames=("n", "m"))
def sweep_rounds(score, first, second, n, m, gap):
    """All rounds of a loop that launches sweep.

    for diagonal = 0 ... m + n:
        score_out[x, diagonal] = max(0, max(max(score.before[x - 1], score.before[x]) - gap,
            score.before2[x - 1] + (2 if first[x - 1] == second[diagonal - x - 1] else -1))) if x >=
            1 and diagonal - x >= 1 and diagonal - x < m + 1 else score[x, diagonal - x]
        score.before[x] = max(0, max(max(score.before[x - 1], score.before[x]) - gap,
            score.before2[x - 1] + (2 if first[x - 1] == second[diagonal - x - 1] else -1))) if x >=
            1 and diagonal - x >= 1 and diagonal - x < m + 1 else score[x, diagonal - x]
            for 0 <= x < n + 1
        score.before2[x] = score.before.1[x]  for 0 <= x < n + 1
    score.diagonals[diagonal, x] = score_out[x, diagonal]  for 0 <= diagonal < m + n + 1, 0 <= x < n + 1
    score[x, c] = score.diagonals[c + x, x]  for 0 <= x < n + 1, 0 <= c < m + 1
    """
    before = jnp.zeros(n + 1, jnp.int32)  # kernel.cu:15
    before2 = jnp.zeros(n + 1, jnp.int32)  # kernel.cu:15
    x = jnp.arange(n + 1)
    second_back = jnp.pad(second[::-1], (m + n, n + 1))
    score2 = score[: (n + 1) * (m + 1)].reshape(n + 1, m + 1)

    def step(state, inputs):
        before, before2 = state
        diagonal, score_diagonal = inputs
        score_new = jnp.where(
            (x >= 1) & (diagonal - x >= 1) & (diagonal - x < m + 1),
            jnp.maximum(
                0,
                jnp.maximum(
                    jnp.maximum(jnp.pad(before, (1, 0))[:-1], before) - gap,
                    jnp.pad(before2, (1, 0))[:-1]
                    + jnp.where(
                        jnp.pad(first, (1, n))[: n + 1]
                        == jax.lax.dynamic_slice(
                            second_back, (second.shape[0] + m + n - diagonal,), (n + 1,)
                        ),
                        2,
                        -1,
                    ),
                ),
            ),
            score_diagonal,
        )
        before_2 = score_new  # kernel.cu:10
        before2_2 = before  # kernel.cu:10
        return (before_2, before2_2), score_new

    _, score_out = jax.lax.scan(
        step,
        (before, before2),
        (jnp.arange(m + n + 1), by_diagonals(score2, m + n + 1)),
        unroll=rounds_at_once(8),
    )  # kernel.cu:15
    diagonals = score_out
    score2 = from_diagonals(diagonals, m + 1)  # kernel.cu:10
    return score.at[: (n + 1) * (m + 1)].set(score2.ravel())


@partial(jax.jit, static_argnames=("n", "m"))
def align(score, first, second, n, m, gap):
    return sweep_rounds(score, first, second, n, m, gap)  # kernel.cu:16
