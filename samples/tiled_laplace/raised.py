"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def stencil2d(a, b):
    """the mean of the four neighbours, from a tile with its border

    b[ty, tx] = 0.25 * (a[ty - 1, tx] + a[ty + 1, tx] + a[ty, tx - 1] + a[ty, tx + 1])
        for 1 <= tx < a.shape[1] - 1, 1 <= ty < a.shape[0] - 1

    a block has 4 threads along x
    a block has 4 threads along y
    """
    rows, cols = a.shape
    if 0 in a.shape:
        return b
    a = a.astype(jnp.result_type(a, jnp.float32))
    return b.at[1 : rows - 1, 1 : cols - 1].set(
        0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    )  # kernel.py:26
