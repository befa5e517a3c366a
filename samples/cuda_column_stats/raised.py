"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

EPS = 0.005


@partial(jax.jit, static_argnames=("m", "n"))
def column_stats(m, n, mean, stddev, data):
    """mean and standard deviation of each column of an n x m table

    mean[j] = (sum_i data[i, j]) / n  for 0 <= j < m
    stddev[j] = 1.0 if sqrt((sum_i d * d) / n) <= EPS else sqrt((sum_i d * d) / n)  for 0 <= j < m
    """
    data2 = data[: n * m].reshape(n, m)
    mean_new = data2.sum(axis=0) / n
    mean = mean.at[:m].set(mean_new)  # kernel.cu:10
    d = data2 - mean_new  # kernel.cu:13
    ratio = jnp.sum(d * d, axis=0) / n
    s = jnp.sqrt(ratio)  # kernel.cu:16
    below = s <= EPS
    s_2 = jnp.sqrt(jnp.where(below, 1.0, ratio))
    # a constant column must not be divided by zero
    stddev = stddev.at[:m].set(jnp.where(below, 1.0, s_2))  # kernel.cu:17
    return mean, stddev


@partial(jax.jit, static_argnames=("m", "n"))
def reduce_columns(m, n, mean, stddev, data):
    """centre and scale the columns

    data[i, j] = (data[i, j] + -mean[j]) / (sqrt(n) * stddev[j])  for 0 <= j < m, 0 <= i < n
    """
    data2 = data[: n * m].reshape(n, m)
    data2 = (data2 - mean[:m]) / (
        jnp.sqrt(jnp.asarray(n, jnp.float32)) * stddev[:m]
    )  # kernel.cu:27
    return data.at[: n * m].set(data2.ravel())
