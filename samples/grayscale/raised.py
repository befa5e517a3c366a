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
    """gray[y, x] = min(gain * lum, 255.0)  for 0 <= x < width, 0 <= y < height"""
    height = rgb.shape[0]
    width = rgb.shape[1]
    lum = (
        RED * rgb[:, :, 0] + GREEN * rgb[:, :, 1] + BLUE * rgb[:, :, 2]
    )  # kernel.py:17
    return gray.at[:height, :width].set(jnp.minimum(gain * lum, 255.0))  # kernel.py:18
