"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax


@partial(jax.jit, static_argnames="n")
def vector_add(a, b, c, n):
    """c = a + b, one thread an element

    c[i] = a[i] + b[i]  for 0 <= i < n
    """
    return c.at[:n].set(a[:n] + b[:n])  # kernel.cu:5
