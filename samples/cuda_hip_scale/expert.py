"""Channels scaled by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "channels"))
def hip_scale(data, gain, n, channels):
    return data.at[:n].multiply(jnp.resize(gain[:channels], n))
