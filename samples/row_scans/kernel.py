"""Running sums and maxima within the rows of a ragged array."""

from numba import cuda


@cuda.jit
def drawdown(starts, price, peak, fall, worst):
    """The peak so far, how far below it each price is, and the deepest fall of each series."""
    i = cuda.grid(1)
    if i < worst.shape[0]:
        top = 0.0
        low = 0.0
        for k in range(starts[i], starts[i + 1]):
            top = max(top, price[k])
            peak[k] = top
            fall[k] = price[k] - top
            low = min(low, price[k] - top)
        worst[i] = low


@cuda.jit
def offsets(starts, size, first):
    """Where each item of a row begins."""
    i = cuda.grid(1)
    if i + 1 < starts.shape[0]:
        at = 0
        for k in range(starts[i], starts[i + 1]):
            first[k] = at
            at += size[k]
