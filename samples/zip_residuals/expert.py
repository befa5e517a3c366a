"""Normalised residuals by hand."""

import jax


@jax.jit
def zip_residuals(observed, predicted, sigma, residual):
    residual = (observed - predicted) / sigma
    return residual @ residual, residual
