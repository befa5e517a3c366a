"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax

jax.config.update("jax_enable_x64", True)  # kernel.cu uses 64 bits


@partial(jax.jit, static_argnames="n")
def daxpy(n, a, x, y):
    """y = a x + y in double, with a grid-stride loop over size_t

    y[i] += a * x[i]  for 0 <= i < n
    """
    return y.at[:n].add(a * x[:n])  # kernel.cu:4
