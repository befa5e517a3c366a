"""Colour to luminance by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def grayscale(rgb, gray, gain):
    return jnp.minimum(gain * (0.299 * rgb[..., 0] + 0.587 * rgb[..., 1] + 0.114 * rgb[..., 2]), 255)


def large(rng):
    rgb = 200 * rng.random((800, 1000, 3), "f")
    return {"grayscale": {"rgb": rgb, "gray": rgb[..., 0], "gain": 1.6}}
