"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def clamped_blur(img, out):
    """Five-point blur; beyond the border the nearest pixel is repeated.

    out[row, col] = (img[row, col] + img[max(row - 1, 0), col] + img[min(row + 1, h - 1), col] +
        img[row, max(col - 1, 0)] + img[row, min(col + 1, w - 1)]) / 5.0
        for 0 <= row < h, 0 <= col < w
    """
    h, w = img.shape
    if 0 in img.shape:
        return out
    img_padded = jnp.pad(img, 1, mode="edge")
    return out.at[:h, :w].set(
        (
            img
            + img_padded[:-2, 1:-1]
            + img_padded[2:, 1:-1]
            + img_padded[1:-1, :-2]
            + img_padded[1:-1, 2:]
        )
        / 5.0
    )  # kernel.py:14
