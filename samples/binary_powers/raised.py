"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Loops over powers of two: their rounds are known when the function is traced.
"""

from functools import partial

import jax
import jax.numpy as jnp


def summed(term, *ranges, shape=None):
    """The sum of ``term(k, ...)`` over ranges: written out unless there are too many."""
    first, *others = ranges
    terms = len(first)
    for other in others:
        terms *= len(other)
    if not terms and shape is not None:
        return jnp.zeros(shape, int)

    def part(k):
        return summed(lambda *rest: term(k, *rest), *others) if others else term(k)

    if 0 < terms <= 128:
        return sum(part(k) for k in first)
    one = jax.eval_shape(part, first.start)
    axes = ",".join("abcdefgh"[: one.ndim])
    every = jnp.vectorize(part, signature=f"()->({axes})")
    return every(jnp.arange(first.start, first.stop)).sum(0, dtype=one.dtype)


@partial(jax.jit, static_argnames=("n", "exponent"))
def power(x, y, n, exponent):
    """x to a natural power by squaring.

    result, base = 1.0, x[i]  for 0 <= i < n
    for k = 0 ... bit_length(max(0, exponent)) - 1:
        all at once:
            result = result * base if exponent >> k & 1 != 0 else result
            base = base * base
    y[i] = result  for 0 <= i < n
    """
    result = x[:n] ** max(0, exponent)  # kernel.py:14
    return y.at[:n].set(result)  # kernel.py:19


@partial(jax.jit, static_argnames="n")
def comb(x, y, n):
    """The sum of the elements 1, 2, 4, 8 ... places back.

    y[i] = x[i] + sum_(0 <= reach < bit_length(max(0, n - 1)) where i >= reach) x[i - reach]
        for 0 <= i < n
    """
    x_padded = jnp.pad(x[: max(n - 1, 0)], (max(0, n - 1), 0))

    def term(reach):
        return jax.lax.dynamic_slice_in_dim(x_padded, max(0, n - 1) - (1 << reach), n)

    total = x[:n] + summed(
        term, range(max(0, n - 1).bit_length()), shape=n
    )  # kernel.py:29
    return y.at[:n].set(total)  # kernel.py:33


@jax.jit
def larger_neighbour(x, y):
    """The larger of the two neighbours that an element has.

    y[i] = x[i + 1] if i + 1 < x.shape[0] and x[i + 1] > (x[i - 1] if i > 0 and x[i - 1] > x[i] else
        x[i]) else x[i - 1] if i > 0 and x[i - 1] > x[i] else x[i]
        for 0 <= i < x.shape[0]
    """
    n = x.shape[0]
    i = jnp.arange(n)
    x_padded = jnp.pad(x, 1)
    best = x_padded[:-2]  # kernel.py:43
    best_2 = jnp.where((i > 0) & (best > x), best, x)
    best_3 = x_padded[2:]  # kernel.py:45
    best_4 = jnp.where((i + 1 < n) & (best_3 > best_2), best_3, best_2)
    return y.at[:n].set(best_4)  # kernel.py:46
