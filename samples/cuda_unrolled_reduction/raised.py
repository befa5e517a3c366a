"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def reduce(x, total, n, *, grid=None, block=None):
    """each block sums two elements a thread: a ladder of halves in shared memory, the last warp by shuffles

    total[block_x] = sum_(0 <= t < 256 where 256 * block_x + t < n) x[256 * block_x + t]
        for 0 <= block_x < grid

    a block has 128 threads along x
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block != 128:
        raise ValueError("reduce: a block has 128 threads along x")
    blocks = total.shape[0] if grid is None else grid
    count = min(n, 256 * blocks)
    x2 = jnp.pad(x[:count], (0, 256 * blocks - count)).reshape(blocks, 256)
    return total.at[:blocks].set(x2.sum(axis=1))  # kernel.cu:28
