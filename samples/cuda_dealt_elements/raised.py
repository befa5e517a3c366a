"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def brighten(x, y, n):
    """y[i] = sqrt(x[i] * x[i] + 1.0)  for 0 <= i < n"""
    return y.at[:n].set(jnp.sqrt(x[:n] * x[:n] + 1.0))  # kernel.cu:8


@partial(jax.jit, static_argnames="n")
def quads(x, y, n):
    """y[k] = x[k] / (2.0 + x[n - k - 1])  for 0 <= k < n"""
    return y.at[:n].set(x[:n] / (2.0 + x[:n][::-1]))  # kernel.cu:15


@partial(jax.jit, static_argnames=("n", "chunk"))
def chunks(x, y, n, chunk):
    """y[i] = exp(-x[i] * x[i])  for 0 <= i < n

    a thread has an element or more
    """
    if chunk < 1:
        raise ValueError("chunks: a thread must have an element or more")
    return y.at[:n].set(jnp.exp(-x[:n] * x[:n]))  # kernel.cu:21


@partial(jax.jit, static_argnames="n")
def even_parts(x, y, n):
    """y[i] = 2.0 * x[i]  for 0 <= i < n"""
    return y.at[:n].set(2.0 * x[:n])  # kernel.cu:29


@partial(jax.jit, static_argnames="n")
def count_classes(x, count, n):
    """count[x[i] & 7] += 1  for 0 <= i < n

    a block has 128 threads along x
    """
    return count.at[x[:n] & 7].add(1)  # kernel.cu:36
