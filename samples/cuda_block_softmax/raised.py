"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("cols", "grid", "block"))
def softmax(x, y, cols, *, grid=None, block=None):
    """y[block_x, c] = exp(x[block_x, c] - max_t(x[block_x, t])) / (sum_t_2 exp(x[block_x, t_2] - top))
        for 0 <= block_x < grid, 0 <= c < cols

    block is a multiple of 32 (whole warps)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block % 32:
        raise ValueError("softmax: block must be a multiple of 32")
    blocks = y.shape[0] // cols if grid is None else grid
    x2 = x[: blocks * cols].reshape(blocks, cols)
    top = jax.lax.stop_gradient(x2.max(axis=1, initial=-jnp.inf))  # kernel.cu:4
    exp = jnp.exp(x2 - top[:, None])
    y2 = exp / exp.sum(axis=1, keepdims=True)  # kernel.cu:35
    return y.at[: blocks * cols].set(y2.ravel())
