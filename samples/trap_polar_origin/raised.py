"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def polar_origin(r, theta, x, y):
    """Polar coordinates; the origin has none.

    r[i] = 0.0  for 0 <= i < x.shape[0], where x[i] * x[i] + y[i] * y[i] < 1e-09
    theta[i] = 0.0  for 0 <= i < x.shape[0], where x[i] * x[i] + y[i] * y[i] < 1e-09
    r[i] = hypot(x[i], y[i])  for 0 <= i < x.shape[0], where not x[i] * x[i] + y[i] * y[i] < 1e-09
    theta[i] = atan2(y[i], x[i])  for 0 <= i < x.shape[0], where not x[i] * x[i] + y[i] * y[i] < 1e-09
    """
    n = x.shape[0]
    below = x * x + y[:n] * y[:n] < 1e-09
    choice = jnp.where(below, 1, x)
    r = r.at[:n].set(jnp.where(below, 0.0, jnp.hypot(choice, y[:n])))  # kernel.py:15
    theta = theta.at[:n].set(
        jnp.where(below, 0.0, jnp.arctan2(y[:n], choice))
    )  # kernel.py:16
    return r, theta
