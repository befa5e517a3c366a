"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def period_wrap(y, x, period):
    """Positions folded into their period; period 0 means an axis without one.

    y[i] = fmod(x[i], period[i]) / period[i] if period[i] > 0.0 else x[i]  for 0 <= i < x.shape[0]
    """
    n = x.shape[0]
    above = period[:n] > 0.0
    choice = jnp.where(above, period[:n], 1)
    return y.at[:n].set(
        jnp.where(above, jnp.fmod(x, choice) / choice, x)
    )  # kernel.py:14
