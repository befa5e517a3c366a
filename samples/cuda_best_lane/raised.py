"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("classes", "grid", "block"))
def best_columns(score, column, classes, *, grid=None, block=None):
    """the column of the largest element of each row, by one warp for each row; of equal ones the first

    column[row] = argmax_c(score[row, c])  for 0 <= row < grid

    block is a multiple of 32 (whole warps)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block % 32:
        raise ValueError("best_columns: block must be a multiple of 32")
    blocks = column.shape[0] if grid is None else grid
    score2 = score[: blocks * classes].reshape(blocks, classes)
    return column.at[:blocks].set(
        score2.argmax(axis=1).astype(column.dtype)
    )  # kernel.cu:22


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def least_lanes(x, least, lane_of, n, *, grid=None, block=None):
    """the least of the elements of each warp and its lane; of equal ones the exchange decides which

    least[warp] = min_(0 <= lane < 32 where lane + 32 * warp < n)(x[lane + 32 * warp])
        for 0 <= warp < threads // 32
    lane_of[warp] = 16 * ((...) % 2) + 8 * ((...) % 2) + 4 * ((...) % 2) + 2 * ((...) % 2) + (...)
        // 16 % 2
        for 0 <= warp < threads // 32

    block is a multiple of 32 (whole warps)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block % 32:
        raise ValueError("least_lanes: block must be a multiple of 32")
    threads = 32 * least.shape[0] if grid is None else grid * block
    if threads % 32:
        raise ValueError("least_lanes: the threads must be whole warps of 32")
    count = min(n, 32 * (threads // 32))
    x2 = jnp.pad(
        x[:count], (0, 32 * (threads // 32) - count), constant_values=jnp.inf
    ).reshape(threads // 32, 32)
    low = x2.min(axis=1)  # kernel.cu:30
    least = least.at[: threads // 32].set(low)  # kernel.cu:37
    bit_order = jnp.arange(32).reshape((2,) * 5).T.ravel()
    at = bit_order[
        jnp.min(
            jnp.where(x2 == low[:, None], bit_order, jnp.iinfo(jnp.int32).max), axis=1
        )
    ]  # kernel.cu:30
    lane_of = lane_of.at[: threads // 32].set(at.astype(lane_of.dtype))  # kernel.cu:38
    return least, lane_of


@partial(jax.jit, static_argnames=("grid", "block"))
def first_of_blocks(x, place, *, grid, block):
    """the first of the largest elements of each block, with doubling steps

    place[block_x] = block_x * block + argmax_t_2(x[block_x, t_2])  for 0 <= block_x < grid

    block is a power of two (so the source's tree takes all)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block & block - 1:
        raise ValueError("first_of_blocks: block must be a power of two")
    block_x = jnp.arange(grid)
    x2 = x[: grid * block].reshape(grid, block)
    return place.at[:grid].set(
        (block_x * block + jnp.asarray(x2.argmax(axis=1), jnp.int32)).astype(
            place.dtype
        )
    )  # kernel.cu:60
