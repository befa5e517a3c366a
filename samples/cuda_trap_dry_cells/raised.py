"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)  # kernel.cu uses 64 bits


@partial(jax.jit, static_argnames="n")
def dry_cells(flux, h, hu, n):
    """Wave speeds of shallow water: a dry cell has neither a velocity nor a speed of sound.

    flux[i] = (sr * hu[i] - sl * hu[i + 1] + sl * sr * (h[i + 1] - h[i])) / (sr - sl) if sr - sl >
        1e-06 else 0.0
        for 0 <= i < n - 1
    """
    if n < 1:
        return flux
    above = h[:n] > 1e-06
    choice = jnp.where(above, h[:n], 1.0)
    choice_2 = jnp.where(above, jnp.pad(hu, (0, n))[:n] / choice, 0.0)
    choice_3 = jnp.where(above, jnp.sqrt(choice), 0.0)
    total = choice_2 + choice_3
    sr = jnp.maximum(total[:-1], total[1:])  # kernel.cu:8
    difference = choice_2 - choice_3
    sl = jnp.minimum(difference[:-1], difference[1:])
    above_2 = sr - sl > 1e-06
    hu_right = jnp.pad(hu, (0, n))[1:n]
    hr = h[1:n]  # kernel.cu:5
    hl = h[: n - 1]
    return flux.at[: n - 1].set(
        jnp.where(
            above_2,
            (sr * hu[: n - 1] - sl * hu_right + sl * sr * (hr - hl))
            / jnp.where(above_2, sr - sl, 1.0),
            0.0,
        )
    )  # kernel.cu:9
