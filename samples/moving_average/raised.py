"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Means over windows that the ends of the signal cut short.
"""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def moving_average(signal, smooth, n):
    """The mean of up to three neighbours on either side.

    smooth[i] = total / (min(i + 3, n - 1) + 1 - max(i - 3, 0))  for 0 <= i < n
    """
    signal_padded = jnp.pad(signal[:n], 3)
    total = (
        signal_padded[:-6]
        + signal_padded[1:-5]
        + signal_padded[2:-4]
        + signal_padded[3:-3]
        + signal_padded[4:-2]
        + signal_padded[5:-1]
        + signal_padded[6:]
    )  # kernel.py:14
    i = jnp.arange(n)
    return smooth.at[:n].set(
        total / (jnp.minimum(i + 3, n - 1) + 1 - jnp.maximum(i - 3, 0))
    )  # kernel.py:16


@jax.jit
def trailing_average(signal, smooth):
    """The mean of five elements from each on.

    smooth[i] = (sum_(0 <= k < 5) signal[i + k]) / 5.0  for 0 <= i < smooth.shape[0]
    """
    n = smooth.shape[0]
    return (
        (
            1.0 * signal[:n]
            + signal[1 : n + 1]
            + signal[2 : n + 2]
            + signal[3 : n + 3]
            + signal[4 : n + 4]
        )
        / 5.0
    ).astype(smooth.dtype)  # kernel.py:27
