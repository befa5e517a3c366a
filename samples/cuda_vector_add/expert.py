"""A sum of vectors by hand."""

from functools import partial

import jax


@partial(jax.jit, static_argnames="n")
def vector_add(a, b, c, n):
    return c.at[:n].set(a[:n] + b[:n])
