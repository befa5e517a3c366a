"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def checkerboard_update(spin, field, parity, beta):
    """Mean-field update of one colour of a chequerboard; the other colour keeps its value.

    spin[i, j] = (1.0 - beta) * spin[i, j] + beta * field[i, j]
        for 0 <= i < h, 0 <= j < w, where (i + j) % 2 == parity
    """
    h, w = spin.shape
    i = jnp.arange(h)
    j = jnp.arange(w)
    return jnp.where(
        (i[:, None] + j) % 2 == parity, (1.0 - beta) * spin + beta * field[:h, :w], spin
    ).astype(spin.dtype)  # kernel.py:10
