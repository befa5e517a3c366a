"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def reduce(x, total, n, *, grid, block):
    """total[block_x] = sum_t_2 ((x[block_x, t_2] if 2 * block_x * block + t_2 < n else 0.0) +
        (x[block_x, t_2 + block] if 2 * block_x * block + t_2 + block < n else 0.0))
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
    return total.at[:grid].set(
        jnp.sum(x2[:, :block] + x2[:, block:], axis=1)
    )  # kernel.cu:22
