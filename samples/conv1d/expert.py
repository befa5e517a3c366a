"""Hand-written twin of conv1d."""

import jax
import jax.numpy as jnp


@jax.jit
def conv1d(signal, taps, out):
    """Valid correlation of a signal with a short filter."""
    n = out.shape[0]
    return jnp.correlate(signal[: n + taps.shape[0] - 1], taps, mode="valid").astype(
        out.dtype
    )
