"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

N = 5


@partial(jax.jit, static_argnames="n")
def smooth(weights, x, y, bound, n):
    """moving average of N neighbours with weights, kept within bounds

    y[i] = -bound if total / N < -bound else bound if total / N > bound else total / N  for 0 <= i < n
    """
    ratio = (
        weights[0] * x[:n]
        + weights[1] * x[1 : n + 1]
        + weights[2] * x[2 : n + 2]
        + weights[3] * x[3 : n + 3]
        + weights[4] * x[4 : n + 4]
    ) / N
    return y.at[:n].set(
        jnp.where(ratio < -bound, -bound, jnp.where(ratio > bound, bound, ratio))
    )  # kernel.cu:14


@partial(jax.jit, static_argnames="n")
def smooth_five(weights, x, y, n):
    return smooth(weights, x, y, 2.0, n)  # kernel.cu:19
