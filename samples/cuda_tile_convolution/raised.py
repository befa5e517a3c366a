"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("width", "height"))
def tile_convolution(image, filter, out, width, height):
    """A 5 x 5 filter: the block's threads fill a tile with its rim together, each as many cells as it takes.

    out[y, x] = sum_(0 <= i < 5, 0 <= j < 5) filter[i, j] * (image[i + y - 2, j + x - 2] if j + x -
        2 >= 0 and j + x - 2 < width and i + y - 2 >= 0 and i + y - 2 < height else 0.0)
        for 0 <= x < width, 0 <= y < height

    a block has 16 threads along x
    a block has 16 threads along y
    """
    filter2 = filter[:25].reshape(5, 5)
    image2 = image[: height * width].reshape(height, width)
    image_padded = jnp.pad(image2, 2)
    out2 = sum(
        filter2[i, j] * image_padded[i : height + i, j : width + j]
        for i in range(5)
        for j in range(5)
    )  # kernel.cu:22
    return out.at[: height * width].set(out2.ravel())
