"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Rows of rows: documents of paragraphs of words, and neighbours of neighbours.
"""

import jax
import jax.numpy as jnp


@jax.jit
def score(documents, paragraphs, weights, words, scores):
    """The words of each document, weighted by paragraph.

    scores[d] = sum_(documents[d] <= p < documents[d + 1]) weights[p] * inside
        for 0 <= d < scores.shape[0]

    paragraphs must not decrease
    documents must not decrease
    """
    n = paragraphs.shape[0]
    m = weights.shape[0]
    scores_size = scores.shape[0]
    row = (
        jnp.cumsum(
            jnp.bincount(paragraphs[: max(min(n - 1, m) + 1, 0)], length=words.shape[0])
        )
        - 1
    )
    row_2 = (
        jnp.cumsum(
            jnp.bincount(documents[: scores_size + 1], length=max(min(n - 1, m), 0))
        )
        - 1
    )
    inside = jax.ops.segment_sum(
        1.0 * words, row, max(min(n - 1, m), 0), indices_are_sorted=True
    )  # kernel.py:14
    inside_2 = (row_2 >= 0) & (row_2 < scores_size)
    totals = jax.ops.segment_sum(
        jnp.where(inside_2, weights[: max(min(n - 1, m), 0)], 0) * inside,
        row_2,
        scores_size,
        indices_are_sorted=True,
    )
    return totals.astype(scores.dtype)  # kernel.py:17


@jax.jit
def longest_word(documents, paragraphs, lengths, longest):
    """The greatest length in each document, 0 if it has no word.

    longest[d] = max(0, max_(documents[d] <= p < documents[d + 1], paragraphs[p] <= w <
        paragraphs[p + 1])(lengths[w]))
        for 0 <= d < longest.shape[0]

    paragraphs must not decrease
    documents must not decrease
    """
    n = paragraphs.shape[0]
    m = longest.shape[0]
    row = jnp.cumsum(jnp.bincount(paragraphs, length=lengths.shape[0])) - 1
    row_2 = jnp.cumsum(jnp.bincount(documents[: m + 1], length=max(n - 1, 0))) - 1
    row_max = jax.ops.segment_max(lengths, row, n - 1, indices_are_sorted=True)
    row_max_2 = jax.ops.segment_max(row_max, row_2, m, indices_are_sorted=True)
    return jnp.maximum(0, row_max_2).astype(longest.dtype)  # kernel.py:29


@jax.jit
def second_neighbours(starts, neighbours, x, y):
    """What stands at the neighbours of each node's neighbours, added up.

    y[i] = sum_(starts[i] <= k < starts[i + 1], starts[neighbours[k]] <= m < starts[neighbours[k] +
        1]) x[neighbours[m]]
        for 0 <= i < y.shape[0]

    starts must not decrease
    """
    n = neighbours.shape[0]
    m = y.shape[0]
    row = jnp.cumsum(jnp.bincount(starts, length=n)) - 1
    row_2 = jnp.cumsum(jnp.bincount(starts[: m + 1], length=n)) - 1
    totals = jax.ops.segment_sum(
        1.0 * x[neighbours], row, starts.shape[0] - 1, indices_are_sorted=True
    )
    totals_2 = jax.ops.segment_sum(
        totals[neighbours], row_2, m, indices_are_sorted=True
    )
    return totals_2.astype(y.dtype)  # kernel.py:42
