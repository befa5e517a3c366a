import math

from numba import cuda


@cuda.jit
def row_softmax(logits, probs):
    """Softmax of each row, one thread a row, shifted by the maximum for stability."""
    r = cuda.grid(1)
    if r < logits.shape[0]:
        cols = logits.shape[1]
        top = logits[r, 0]
        for c in range(1, cols):
            if logits[r, c] > top:
                top = logits[r, c]
        total = 0.0
        for c in range(cols):
            e = math.exp(logits[r, c] - top)
            probs[r, c] = e
            total += e
        for c in range(cols):
            probs[r, c] /= total
