"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def sweep(score, first, second, n, m, d, gap):
    """score[i * m + d + m] = max(0, max(best, score[i * m + d - 2] + same))
        for 0 <= i < n, where d - i - 1 >= 1 and d - i - 1 <= m

    2 <= d < m + n + 1, as in the loop that launches it
    """
    score_size = score.shape[0]
    i = jnp.arange(n)
    total = i * m + d
    difference = d - i - 1
    best = (
        jnp.maximum(
            score[jnp.clip(total - 1, 0, score_size - 1)],
            score[jnp.clip(total + m - 1, 0, score_size - 1)],
        )
        - gap
    )  # kernel.cu:9
    same = jnp.where(
        first[:n] == second[jnp.clip(d - i - 2, 0, second.shape[0] - 1)], 2, -1
    )  # kernel.cu:8
    return score.at[
        jnp.where((difference >= 1) & (difference <= m), total + m, score_size)
    ].set(
        jnp.maximum(
            0, jnp.maximum(best, score[jnp.clip(total - 2, 0, score_size - 1)] + same)
        ),
        mode="drop",
    )  # kernel.cu:10


@partial(jax.jit, static_argnames=("n", "m"))
def align(score, first, second, n, m, gap):
    def step(d, score):
        return sweep(score, first, second, n, m, d, gap)  # kernel.cu:16

    return jax.lax.fori_loop(2, n + m + 1, step, score)  # kernel.cu:15
