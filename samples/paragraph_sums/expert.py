"""Rows of rows by hand."""

import jax
import jax.numpy as jnp


def _rows(ptr, length):
    return jnp.repeat(jnp.arange(ptr.size - 1), jnp.diff(ptr), total_repeat_length=length)


def _sums(values, ptr):
    return jax.ops.segment_sum(values, _rows(ptr, values.size), ptr.size - 1, indices_are_sorted=True)


@jax.jit
def score(documents, paragraphs, weights, words, scores):
    return _sums(weights * _sums(words, paragraphs), documents)


@jax.jit
def longest_word(documents, paragraphs, lengths, longest):
    document = _rows(paragraphs[documents], lengths.size)
    most = jax.ops.segment_max(lengths, document, longest.size, indices_are_sorted=True)
    return jnp.maximum(most, 0).astype(longest.dtype)


@jax.jit
def second_neighbours(starts, neighbours, x, y):
    return _sums(_sums(x[neighbours], starts)[neighbours], starts)


def large(rng):
    import numpy as np

    def starts(n, most):
        return np.concatenate(([0], np.cumsum(rng.integers(0, most, n)))).astype("int32")

    documents = starts(2000, 12)
    paragraphs = starts(documents[-1], 30)
    graph = starts(20_000, 20)
    count, words = documents[-1], paragraphs[-1]
    texts = {"documents": documents, "paragraphs": paragraphs}
    x, y = rng.random((2, 20_000), "f")
    return {
        "score": texts | {"weights": rng.random(count, "f"), "words": rng.random(words, "f"), "scores": x[:2000]},
        "longest_word": texts | {"lengths": rng.integers(1, 15, words).astype("int32"), "longest": documents[:2000]},
        "second_neighbours": {"starts": graph, "neighbours": rng.integers(0, 20_000, graph[-1]).astype("int32")}
        | {"x": x, "y": y},
    }
