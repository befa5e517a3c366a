"""Hand-written twin of clamped_blur."""

import jax
import jax.numpy as jnp


@jax.jit
def clamped_blur(img, out):
    """Five-point blur; beyond the border the nearest pixel is repeated."""
    h, w = img.shape
    rim = jnp.pad(img, 1, mode="edge")
    up, down = rim[:-2, 1:-1], rim[2:, 1:-1]
    left, right = rim[1:-1, :-2], rim[1:-1, 2:]
    return out.at[:h, :w].set((img + up + down + left + right) / 5.0)
