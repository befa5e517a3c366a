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
    hl = h[: n - 1]  # kernel.cu:5
    above = hl > 1e-06
    safe_hl = jnp.where(above, hl, 1.0)
    ul = jnp.where(above, hu[: n - 1] / safe_hl, 0.0)
    cl = jnp.where(above, jnp.sqrt(safe_hl), 0.0)
    hr = h[1:n]  # kernel.cu:5
    above_2 = hr > 1e-06
    hu_at = jnp.pad(hu, (0, n))[1:n]
    safe_hr = jnp.where(above_2, hr, 1.0)
    ur = jnp.where(above_2, hu_at / safe_hr, 0.0)
    cr = jnp.where(above_2, jnp.sqrt(safe_hr), 0.0)
    sr = jnp.maximum(ul + cl, ur + cr)
    sl = jnp.minimum(ul - cl, ur - cr)
    above_3 = sr - sl > 1e-06
    return flux.at[: n - 1].set(
        jnp.where(
            above_3,
            (sr * hu[: n - 1] - sl * hu_at + sl * sr * (hr - hl))
            / jnp.where(above_3, sr - sl, 1.0),
            0.0,
        )
    )  # kernel.cu:9
