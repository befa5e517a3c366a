"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("width", "height", "grid", "block"))
def filter_rows(image, out, width, height, taps, *, grid=None, block=None):
    """out[y, x] = sum_(-3 <= j < 4) (image[y, j + x] if j + x >= 0 and j + x < width else 0.0) *
        taps[3 - j]
        for 0 <= x < width, 0 <= y < height

    a block has 32 threads along x
    """
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block != 32:
        raise ValueError("filter_rows: a block has 32 threads along x")
    if width < 1:
        return out
    image2 = image[: height * width].reshape(height, width)
    image_padded = jnp.pad(image2, ((0, 0), (3, 3)))
    out2 = (
        image_padded[:, :-6] * taps[6]
        + image_padded[:, 1:-5] * taps[5]
        + image_padded[:, 2:-4] * taps[4]
        + image_padded[:, 3:-3] * taps[3]
        + image_padded[:, 4:-2] * taps[2]
        + image_padded[:, 5:-1] * taps[1]
        + image_padded[:, 6:] * taps[0]
    )  # kernel.cu:19
    return out.at[: height * width].set(out2.ravel())
