"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Global alignment: every cell from its three neighbours above and to the left.
"""

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


@jax.jit
def needleman_wunsch(a, b, score, match, gap):
    """for diagonal = 0 ... score.shape[0] + score.shape[1] - 1 - 1:
        score_out[i, diagonal] = max(max(score.before2[i - 1] + (match if a[i - 1] ==
            b[diagonal - i - 1] else -match), score.before[i - 1] - gap), score.before[i] - gap) if
            i >= 1 and diagonal - i >= 1 and diagonal - i < score.shape[1] else
            score[i, diagonal - i]
        score.before[i] = max(max(score.before2[i - 1] + (match if a[i - 1] == b[diagonal - i - 1]
            else -match), score.before[i - 1] - gap), score.before[i] - gap) if i >= 1 and diagonal
            - i >= 1 and diagonal - i < score.shape[1] else score[i, diagonal - i]
            for 0 <= i < score.shape[0]
        score.before2[i] = score.before.1[i]  for 0 <= i < score.shape[0]
    score.diagonals[diagonal, i] = score_out[i, diagonal]
        for 0 <= diagonal < score.shape[0] + score.shape[1] - 1, 0 <= i < score.shape[0]
    score[i, j] = score.diagonals[i + j, i]  for 0 <= i < score.shape[0], 0 <= j < score.shape[1]
    """
    rows, cols = score.shape
    before = jnp.zeros(rows, score.dtype)  # kernel.py:5
    before2 = jnp.zeros(rows, score.dtype)  # kernel.py:5
    i = jnp.arange(rows)
    b_back = jnp.pad(b[::-1], (rows + cols, rows))

    def step(state, inputs):
        before, before2 = state
        diagonal, score_diagonal = inputs
        score_new = jnp.where(
            (i >= 1) & (diagonal - i >= 1) & (diagonal - i < cols),
            jnp.maximum(
                jnp.maximum(
                    jnp.pad(before2, (1, 0))[:-1]
                    + jnp.where(
                        jnp.pad(a, (1, rows))[:rows]
                        == jax.lax.dynamic_slice(
                            b_back, (b.shape[0] + rows + cols - diagonal,), (rows,)
                        ),
                        match,
                        -match,
                    ),
                    jnp.pad(before, (1, 0))[:-1] - gap,
                ),
                before - gap,
            ),
            score_diagonal,
        )
        before_2 = score_new.astype(score.dtype)  # kernel.py:11
        before2_2 = before  # kernel.py:11
        return (before_2, before2_2), score_new

    _, score_out = jax.lax.scan(
        step,
        (before, before2),
        (jnp.arange(rows + cols - 1), by_diagonals(score, max(rows + cols - 1, 0))),
        unroll=rounds_at_once(8),
    )  # kernel.py:5
    diagonals = score_out.astype(score.dtype)
    return from_diagonals(diagonals, cols)  # kernel.py:11
