"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def bitonic_step(x, j, k):
    """one step of a bitonic sorting network: each pair by the thread of its lower element

    x[i] = min(x[i], x[i ^ j])  for 0 <= i < x.shape[0], where other > i and i & k == 0
    x[i] = x.0[i ^ j]
        for 0 <= i < x.shape[0], where other >= 0 and i > other and other & k == 0 and x.0[other] > x.0[i]
    x[i] = max(x[i], x.0[i ^ j])  for 0 <= i < x.shape[0], where other > i and i & k != 0
    x[i] = x.0[i ^ j]
        for 0 <= i < x.shape[0], where other >= 0 and i > other and other & k != 0 and x.0[other] < x.0[i]
    """
    i = jnp.arange(x.shape[0])
    other = i ^ j  # kernel.py:9
    above = other > i
    and_ = i & k
    both = (other >= 0) & (i > other)
    and__2 = other & k
    t = x.at[other].get(mode="clip")  # kernel.py:13
    x_2 = jnp.where(
        above & (and_ == 0) | both & (and__2 != 0), jnp.minimum(x, t), x
    )  # kernel.py:14
    return jnp.where(
        both & (and__2 == 0) | above & (and_ != 0), jnp.maximum(x, t), x_2
    )  # kernel.py:15
