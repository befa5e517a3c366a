"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Global alignment: every cell from its three neighbours above and to the left.
"""

import jax
import jax.numpy as jnp


@jax.jit
def needleman_wunsch(a, b, score, match, gap):
    """
    for i = 1 ... score.shape[0] - 1:
        score_before = score[i, 0]
        for j = 1 ... score.shape[1] - 1:
            score_out[j] = score_before = max(max(score[i - 1, j - 1] + similarity, score[i - 1, j]
                - gap), score_before - gap)
        score[i, j] = score_out[j]  for 1 <= j < score.shape[1]
    """
    rows, cols = score.shape
    if min(score.shape) < 2:
        return score

    def step(score, inputs):
        i, a_before = inputs

        def step_2(score_before, inputs):
            score_before_2, b_before, score_j = inputs
            similarity = jnp.where(a_before == b_before, match, -match)  # kernel.py:7
            score_new = jnp.maximum(
                jnp.maximum(score_before_2 + similarity, score_j - gap),
                score_before - gap,
            )
            return score_new, score_new

        _, score_out = jax.lax.scan(
            step_2, score[i, 0], (score[i - 1, :-1], b[: cols - 1], score[i - 1, 1:])
        )  # kernel.py:6
        score = score.at[i, 1:].set(score_out)  # kernel.py:11
        return score, None

    score, _ = jax.lax.scan(
        step, score, (jnp.arange(1, rows), a[: rows - 1])
    )  # kernel.py:5
    return score
