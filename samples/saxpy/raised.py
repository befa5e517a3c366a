"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

from functools import partial

import jax


@partial(jax.jit, static_argnames="n")
def saxpy(n, a, x, y):
    """y <- a * x + y for the first n elements (BLAS level 1).

    y[i] += a * x[i]  for 0 <= i < n
    """
    return y.at[:n].add(a * x[:n])  # kernel.py:9
