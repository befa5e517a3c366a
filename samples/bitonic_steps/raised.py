"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def bitonic_step(x, j, k):
    """one step of a bitonic sorting network: each pair by the thread of its lower element

    x[i] = min(x[i], x[i ^ j])  for 0 <= i < x.shape[0], where other > i and i & k == 0
    x[other] = x.0[i]  for 0 <= i < x.shape[0], where other > i and i & k == 0 and x.0[i] > x.0[other]
    x[i] = max(x[i], x[i ^ j])  for 0 <= i < x.shape[0], where other > i and i & k != 0
    x[other] = x.2[i]  for 0 <= i < x.shape[0], where other > i and i & k != 0 and x.2[i] < x.2[other]
    """
    n = x.shape[0]
    i = jnp.arange(n)
    other = i ^ j  # kernel.py:9
    above = other > i
    and_ = i & k
    both = above & (and_ == 0)
    x_at = x[jnp.clip(other, 0, n - 1)]
    x_2 = jnp.where(both, jnp.minimum(x, x_at), x)  # kernel.py:14
    x_2 = x_2.at[jnp.where(both & (x > x_at), other, n)].set(
        x, mode="drop"
    )  # kernel.py:15
    both_2 = above & (and_ != 0)
    x_at_2 = x_2[jnp.clip(other, 0, n - 1)]
    x_3 = jnp.where(both_2, jnp.maximum(x_2, x_at_2), x_2)  # kernel.py:19
    return x_3.at[jnp.where(both_2 & (x_2 < x_at_2), other, n)].set(
        x_2, mode="drop"
    )  # kernel.py:20
