"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def reduce(x, total, n, *, grid, block):
    """total[block_x] = sum_(0 <= t_2 < 2 * block where 2 * block_x * block + t_2 < n) x[block_x, t_2]
        for 0 <= block_x < grid

    block is a power of two (so the source's tree takes all)
    block has 64 threads or more
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block & block - 1:
        raise ValueError("reduce: block must be a power of two")
    if block < 64:
        raise ValueError("reduce: block must have 64 threads or more")
    count = min(n, grid * (2 * block))
    x2 = jnp.pad(x[:count], (0, grid * (2 * block) - count)).reshape(grid, 2 * block)
    return total.at[:grid].set(x2.sum(axis=1))  # kernel.cu:22
