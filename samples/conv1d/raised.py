"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def conv1d(signal, taps, out):
    """Valid correlation of a signal with a short filter.

    out[i] = sum_k signal[i + k] * taps[k]  for 0 <= i < out.shape[0]
    """
    i = jnp.arange(out.shape[0])
    k = jnp.arange(taps.shape[0])
    return (signal[i[:, None] + k] @ taps).astype(out.dtype)  # kernel.py:12
