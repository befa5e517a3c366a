"""y + a x in double precision by hand."""

from functools import partial

import jax


@partial(jax.jit, static_argnames="n")
def daxpy(n, a, x, y):
    return y.at[:n].add(a * x[:n])
