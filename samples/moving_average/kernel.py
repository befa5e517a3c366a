"""Means over windows that the ends of the signal cut short."""

from numba import cuda


@cuda.jit
def moving_average(signal, smooth, n):
    """The mean of up to three neighbours on either side."""
    i = cuda.grid(1)
    if i < n:
        first = max(i - 3, 0)
        last = min(i + 3, n - 1)
        total = 0.0
        for k in range(first, last + 1):
            total += signal[k]
        smooth[i] = total / (last - first + 1)


@cuda.jit
def trailing_average(signal, smooth):
    """The mean of five elements from each on."""
    i = cuda.grid(1)
    if i < smooth.shape[0]:
        total = 0.0
        for k in range(i, i + 5):
            total += signal[k]
        smooth[i] = total / 5.0
