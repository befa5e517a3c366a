"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def zip_residuals(observed, predicted, sigma, residual):
    """Normalised residuals and their chi-squared, with the loops Python programmers write.

    residual[i] = (observed[i] - predicted[i]) / sigma[i]
        for 0 <= i < min(observed.shape[0], predicted.shape[0])
    returns sum_(0 <= i < min(observed.shape[0], predicted.shape[0])) ((observed[i] - predicted[i])
        / sigma[i])**2
    """
    n = observed.shape[0]
    m = predicted.shape[0]
    length = min(n, m)
    residual_new = (observed[:length] - predicted[:length]) / sigma[:length]
    residual = residual.at[:length].set(residual_new)  # kernel.py:5
    return jnp.sum(residual_new**2), residual
