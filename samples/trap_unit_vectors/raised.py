"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def unit_vectors(u, x):
    """Directions; the zero vector stays as it is.

    u[i, c] = x[i, c] / n if n > 0.001 else x[i, c]  for 0 <= i < x.shape[0], 0 <= c < 3
    """
    total = x[:, 0] ** 2 + x[:, 1] ** 2 + x[:, 2] ** 2
    n = jnp.sqrt(total)  # kernel.py:11
    n_2 = jnp.sqrt(jnp.where(n > 0.001, total, 1))
    return u.at[: x.shape[0], :3].set(x[:, :3] / n_2[:, None])  # kernel.py:17
