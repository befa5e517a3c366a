"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("grid", "block"))
def reduce(x, total, n, *, grid=None, block=None):
    """each block sums two elements a thread: a ladder of halves in shared memory, the last warp by shuffles

    total[block_x] = sum_(0 <= t < 128) ((x[256 * block_x + t] if 256 * block_x + t < n else 0.0) +
        x[256 * block_x + t + 128] if 256 * block_x + t + 128 < n else x[256 * block_x + t] if 256 *
        block_x + t < n else 0.0)
        for 0 <= block_x < grid

    a block has 128 threads along x
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    m = x.shape[0]
    if block is not None and block != 128:
        raise ValueError("reduce: a block has 128 threads along x")
    blocks = total.shape[0] if grid is None else grid
    block_x = jnp.arange(blocks)
    t = jnp.arange(128)
    total_2 = 256 * block_x[:, None] + t
    choice = jnp.where(total_2 < n, x[jnp.clip(total_2, 0, m - 1)], 0.0)
    return total.at[:blocks].set(
        jnp.sum(
            jnp.where(
                total_2 + 128 < n, choice + x[jnp.clip(total_2 + 128, 0, m - 1)], choice
            ),
            axis=1,
        )
    )  # kernel.cu:28
