"""Loops over powers of two: their rounds are known when the function is traced."""

from numba import cuda


@cuda.jit
def power(x, y, n, exponent):
    """x to a natural power by squaring."""
    i = cuda.grid(1)
    if i < n:
        result = 1.0
        base = x[i]
        k = exponent
        while k > 0:
            if k & 1:
                result *= base
            base *= base
            k >>= 1
        y[i] = result


@cuda.jit
def comb(x, y, n):
    """The sum of the elements 1, 2, 4, 8 ... places back."""
    i = cuda.grid(1)
    if i < n:
        total = x[i]
        reach = 1
        while reach < n:
            if i >= reach:
                total += x[i - reach]
            reach *= 2
        y[i] = total


@cuda.jit
def larger_neighbour(x, y):
    """The larger of the two neighbours that an element has."""
    i = cuda.grid(1)
    if i < x.size:
        best = x[i]
        if i > 0 and x[i - 1] > best:
            best = x[i - 1]
        if i + 1 < x.size and x[i + 1] > best:
            best = x[i + 1]
        y[i] = best
