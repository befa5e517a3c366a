"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("grid", "block"))
def softmax(x, y, *, grid=None, block=None):
    """one block a row: two trees

    y[r, c] = exp(x[r, c] - max_t_2(x[r, t_2])) / (sum_t_3 exp(x[r, t_3] - max_t_2(x[r, t_2])))
        for 0 <= r < grid, 0 <= c < x.shape[1]

    block is a power of two (the tree reduction drops elements otherwise)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block & block - 1:
        raise ValueError("softmax: block must be a power of two")
    blocks = y.shape[0] if grid is None else grid
    m = jax.lax.stop_gradient(jnp.max(x[:blocks], axis=1))  # kernel.py:23
    e = jnp.exp(x[:blocks] - m[:, None])  # kernel.py:27
    return y.at[:blocks, : x.shape[1]].set(
        e / e.sum(axis=1, keepdims=True)
    )  # kernel.py:40
