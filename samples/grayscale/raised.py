"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Colour to luminance, one thread a pixel.
"""

import jax
import jax.numpy as jnp

RED = 0.299
GREEN = 0.587
BLUE = 0.114


@jax.jit
def grayscale(rgb, gray, gain):
    """gray[y, x] = min(gain * lum, 255.0)  for 0 <= x < rgb.shape[1], 0 <= y < rgb.shape[0]"""
    n0 = rgb.shape[0]
    n1 = rgb.shape[1]
    lum = (
        RED * rgb[:, :, 0] + GREEN * rgb[:, :, 1] + BLUE * rgb[:, :, 2]
    )  # kernel.py:17
    return gray.at[:n0, :n1].set(jnp.minimum(gain * lum, 255.0))  # kernel.py:18
