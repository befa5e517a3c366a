"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp

EPS = 1e-05


@jax.jit
def layer_norm(x, gamma, beta, y):
    """Normalise each row to zero mean and unit variance, then scale and shift.

    y[row, j] = (x[row, j] - (sum_j x[row, j]) / d) * 1.0 / sqrt(var + EPS) * gamma[j] + beta[j]
        for 0 <= row < x.shape[0], 0 <= j < d
    """
    rows, d = x.shape
    mean = x.sum(axis=1) / d  # kernel.py:18
    difference = x - mean[:, None]
    var = jnp.sum(difference**2, axis=1) / d  # kernel.py:22
    rstd = 1.0 / jnp.sqrt(var + EPS)
    return y.at[:rows, :d].set(
        difference * rstd[:, None] * gamma[:d] + beta[:d]
    )  # kernel.py:25
