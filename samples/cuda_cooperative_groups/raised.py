"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def sum_of_tiles(x, out, n):
    """out[0] += sum_i x[i]

    block is a multiple of 32 (whole warps)
    """
    return out.at[0].add(jnp.sum(x[:n]))  # kernel.cu:12


@partial(jax.jit, static_argnames=("grid", "block"))
def largest_of_tile(x, y, *, grid=None, block=None):
    """y[warp, lane] = x[warp, lane] / max_(0 <= lane_2 < 32)(x[warp, lane_2])
        for 0 <= warp < threads // 32, 0 <= lane < 32

    block is a multiple of 32 (whole warps)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block % 32:
        raise ValueError("largest_of_tile: block must be a multiple of 32")
    threads = y.shape[0] if grid is None else grid * block
    if threads % 32:
        raise ValueError("largest_of_tile: the threads must be whole warps of 32")
    x2 = x[:threads].reshape(threads // 32, 32)
    y2 = x2 / x2.max(axis=1, keepdims=True)  # kernel.cu:18
    return y.at[:threads].set(y2.ravel())


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def sum_of_block(x, total, n, *, grid, block):
    """total[block_x] = sum_(t_2 where block_x * block + t_2 < n) x[block_x, t_2]  for 0 <= block_x < grid

    block is a power of two (the tree reduction drops elements otherwise)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block & block - 1:
        raise ValueError("sum_of_block: block must be a power of two")
    count = min(n, grid * block)
    x2 = jnp.pad(x[:count], (0, grid * block - count)).reshape(grid, block)
    return total.at[:grid].set(x2.sum(axis=1))  # kernel.cu:32
