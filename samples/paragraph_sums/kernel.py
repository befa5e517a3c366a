"""Rows of rows: documents of paragraphs of words, and neighbours of neighbours."""

from numba import cuda


@cuda.jit
def score(documents, paragraphs, weights, words, scores):
    """The words of each document, weighted by paragraph."""
    d = cuda.grid(1)
    if d < scores.size:
        total = 0.0
        for p in range(documents[d], documents[d + 1]):
            inside = 0.0
            for w in range(paragraphs[p], paragraphs[p + 1]):
                inside += words[w]
            total += weights[p] * inside
        scores[d] = total


@cuda.jit
def longest_word(documents, paragraphs, lengths, longest):
    """The greatest length in each document, 0 if it has no word."""
    d = cuda.grid(1)
    if d < longest.size:
        best = 0
        for p in range(documents[d], documents[d + 1]):
            for w in range(paragraphs[p], paragraphs[p + 1]):
                best = max(best, lengths[w])
        longest[d] = best


@cuda.jit
def second_neighbours(starts, neighbours, x, y):
    """What stands at the neighbours of each node's neighbours, added up."""
    i = cuda.grid(1)
    if i < y.size:
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            j = neighbours[k]
            for m in range(starts[j], starts[j + 1]):
                total += x[neighbours[m]]
        y[i] = total
