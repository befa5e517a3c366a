"""Binary searches: the bin of a number, a rank among others, a value between two knots."""

from numba import cuda


@cuda.jit
def bin_of(edges, x, bins):
    """The bin of each number: how many edges are not greater."""
    i = cuda.grid(1)
    if i >= x.shape[0]:
        return
    low = 0
    high = edges.shape[0]
    while low < high:
        middle = low + (high - low) // 2
        if x[i] < edges[middle]:
            high = middle
        else:
            low = middle + 1
    bins[i] = low


@cuda.jit
def interpolate(knots, values, x, y):
    """Values between knots, on straight lines."""
    i = cuda.grid(1)
    if i < x.size:
        left = 0
        right = knots.size - 1
        while right - left > 1:
            middle = (left + right) // 2
            if knots[middle] <= x[i]:
                left = middle
            else:
                right = middle
        t = (x[i] - knots[left]) / (knots[right] - knots[left])
        y[i] = (1.0 - t) * values[left] + t * values[right]


@cuda.jit
def entry_at(starts, columns, values, rows, cols, found):
    """Entries of a sparse matrix: each row's columns are in order, the array of all is not."""
    i = cuda.grid(1)
    if i < found.size:
        low = starts[rows[i]]
        end = starts[rows[i] + 1]
        high = end
        while low < high:
            middle = (low + high) // 2
            if columns[middle] < cols[i]:
                low = middle + 1
            else:
                high = middle
        found[i] = 0.0
        if low < end and columns[low] == cols[i]:
            found[i] = values[low]
