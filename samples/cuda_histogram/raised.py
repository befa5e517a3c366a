"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def histogram(data, bins, n):
    """counts the bytes by their upper four bits

    bins[data[i] >> 4 & 15] += 1  for 0 <= i < n
    """
    return bins.at[data[:n].astype(jnp.int32) >> 4 & 15].add(1)  # kernel.cu:8
