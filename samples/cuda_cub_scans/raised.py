"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def block_scans(x, before, totals, n, *, grid=None, block=None):
    """first pass of a long scan: sums before each element of a block, and the block's total

    before[32 * block_x + thread_x] = exclusive_cumsum_thread_x(v)
        for 0 <= block_x < grid, 0 <= thread_x < 32, where 32 * block_x + thread_x < n
    totals[block_x] = sum_(0 <= t < 32 where 32 * block_x + t < n) x[32 * block_x + t]
        for 0 <= block_x < grid

    a block has 32 threads along x
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block != 32:
        raise ValueError("block_scans: a block has 32 threads along x")
    blocks = totals.shape[0] if grid is None else grid
    count = min(n, 32 * blocks)
    x2 = jnp.pad(x[:count], (0, 32 * blocks - count)).reshape(blocks, 32)
    sums = jnp.cumsum(x2, axis=1)
    before = before.at[:count].set(
        jnp.pad(sums[:, :-1], ((0, 0), (1, 0))).ravel()[:count]
    )  # kernel.cu:13
    totals = totals.at[:blocks].set(sums[:, -1])  # kernel.cu:14
    return before, totals


@partial(jax.jit, static_argnames=("grid", "block"))
def water_marks(level, mark, *, grid=None, block=None):
    """the highest water mark so far in each row of a gauge's readings

    mark[block_x, thread_x] = cummax_thread_x(level[block_x, thread_x])
        for 0 <= block_x < grid, 0 <= thread_x < 32

    a block has 32 threads along x
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block != 32:
        raise ValueError("water_marks: a block has 32 threads along x")
    blocks = mark.shape[0] // 32 if grid is None else grid
    level2 = level[: 32 * blocks].reshape(blocks, 32)
    mark2 = jax.lax.cummax(level2, axis=1)  # kernel.cu:23
    return mark.at[: 32 * blocks].set(mark2.ravel())


@partial(jax.jit, static_argnames=("grid", "block"))
def long_rows(count, offset, *, grid=None, block=None):
    """four elements a thread, loaded and stored through shared memory

    offset[block_x, thread_x, k_4] = count[block_x, thread_x, k_4] + before +
        exclusive_cumsum_k_4(count[block_x, thread_x, k_4])
        for 0 <= block_x < grid, 0 <= thread_x < 32, 0 <= k_4 < 4

    a block has 32 threads along x
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block != 32:
        raise ValueError("long_rows: a block has 32 threads along x")
    blocks = offset.shape[0] // 128 if grid is None else grid
    count3 = count[: 128 * blocks].reshape(blocks, 32, 4)
    offset3 = count3 + jnp.cumsum(
        jnp.concatenate(
            (
                jnp.full(
                    (blocks, 32, 1),
                    jnp.pad(
                        jnp.cumsum(count3.sum(axis=2), axis=1)[:, :-1], ((0, 0), (1, 0))
                    )[:, :, None],
                ),
                count3[:, :, :-1],
            ),
            axis=2,
        ),
        axis=2,
    )  # kernel.cu:41
    return offset.at[: 128 * blocks].set(offset3.ravel())


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def warp_sums(x, y, n, *, grid=None, block=None):
    """one sum for each warp

    y[block_x] = sum_(0 <= t < 32 where 32 * block_x + t < n) x[32 * block_x + t] * x[32 * block_x + t]
        for 0 <= block_x < grid

    a block has 32 threads along x
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block != 32:
        raise ValueError("warp_sums: a block has 32 threads along x")
    blocks = y.shape[0] if grid is None else grid
    count = min(n, 32 * blocks)
    x2 = jnp.pad(x[:count], (0, 32 * blocks - count)).reshape(blocks, 32)
    return y.at[:blocks].set(jnp.sum(x2 * x2, axis=1))  # kernel.cu:50
