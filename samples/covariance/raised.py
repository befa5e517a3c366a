"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def covariance(data):
    """Sample covariance of the columns of ``data`` (observations by variables).

    mean[j] = (sum_i data[i, j]) / data.shape[0]  for 0 <= j < data.shape[1]
    cov[a, b] = (sum_i (data[i, a] - mean[a]) * (data[i, b] - mean[b])) / (data.shape[0] - 1)
        for 0 <= a < data.shape[1], 0 <= b < data.shape[1]
    """
    rows = data.shape[0]
    mean = jnp.sum(data.T, axis=1) / rows  # kernel.py:12
    return (data.T - mean[:, None]) @ (data - mean) / (rows - 1)  # kernel.py:17
