"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def zip_residuals(observed, predicted, sigma, residual):
    """Normalised residuals and their chi-squared, with the loops Python programmers write.

    residual[i] = (observed[i] - predicted[i]) / sigma[i]
        for 0 <= i < min(observed.shape[0], predicted.shape[0])
    returns sum_(0 <= i < min(observed.shape[0], predicted.shape[0])) residual[i]**2
    """
    n = observed.shape[0]
    m = predicted.shape[0]
    length = min(n, m)
    residual = residual.at[:length].set(
        (observed[:length] - predicted[:length]) / sigma[:length]
    )  # kernel.py:5
    return jnp.sum(residual[:length] ** 2), residual
