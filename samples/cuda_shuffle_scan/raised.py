"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("count", "grid", "block"))
def running_totals(gain, sum, count, *, grid, block):
    """Running totals of a block by shuffles: each warp by itself, the totals of the warps by the first one.

    sum[block_x * block + thread_x] = cumsum_thread_x(gain[block_x, thread_x] if block_x * block +
        thread_x < count else 0.0)
        for 0 <= block_x < grid, 0 <= thread_x < block, where block_x * block + thread_x < count

    block is a multiple of 32 (whole warps)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block % 32:
        raise ValueError("running_totals: block must be a multiple of 32")
    count_2 = min(count, grid * block)
    gain2 = jnp.pad(gain[:count_2], (0, grid * block - count_2)).reshape(grid, block)
    return sum.at[:count_2].set(
        jnp.cumsum(gain2, axis=1).ravel()[:count_2]
    )  # kernel.cu:23
