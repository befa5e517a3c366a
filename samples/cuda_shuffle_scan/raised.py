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
    if block % 32:
        raise ValueError("running_totals: block must be a multiple of 32")
    block_x = jnp.arange(grid)
    thread_x = jnp.arange(block)
    total = block_x[:, None] * block + thread_x
    return sum.at[jnp.where(total < count, total, sum.shape[0])].set(
        jnp.cumsum(
            jnp.pad(
                gain[: min(count, grid * block)], (0, max(grid * block - count, 0))
            ).reshape(grid, block),
            axis=1,
        ),
        mode="drop",
    )  # kernel.cu:23
