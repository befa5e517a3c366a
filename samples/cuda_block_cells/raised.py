"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("cols", "grid", "block"))
def whiten(x, y, cols, eps, *, grid=None, block=None):
    """Each row over its length, with the mean and the scale in two cells.

    y[block_x, c] = (x[block_x, c] - m) * rsqrt((sum_t_2 x[block_x, t_2] * x[block_x, t_2]) / cols -
        m * m + eps)
        for 0 <= block_x < grid, 0 <= c < cols

    block is a power of two (the tree reduction drops elements otherwise)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block & block - 1:
        raise ValueError("whiten: block must be a power of two")
    blocks = y.shape[0] // cols if grid is None else grid
    x2 = x[: blocks * cols].reshape(blocks, cols)
    m = x2.sum(axis=1) / cols  # kernel.cu:25
    y2 = (x2 - m[:, None]) * jax.lax.rsqrt(
        jnp.sum(x2 * x2, axis=1, keepdims=True) / cols - m[:, None] * m[:, None] + eps
    )  # kernel.cu:31
    return y.at[: blocks * cols].set(y2.ravel())


@partial(jax.jit, static_argnames=("grid", "block"))
def mirrored(x, y, *, grid, block):
    """A block turned round, less what its first thread holds.

    y[block_x, t] = x[block_x, block - t - 1] - 0.5 * x[block_x, 0]
        for 0 <= block_x < grid, 0 <= t < block
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    x2 = x[: grid * block].reshape(grid, block)
    y2 = x2[:, ::-1] - 0.5 * x2[:, 0, None]  # kernel.cu:40
    return y.at[: grid * block].set(y2.ravel())


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def above(x, count, largest, limit, n, *, grid, block):
    """How many of a block are above the limit, and the largest of them.

    count[block_x] = sum_(thread_x where block_x * block + thread_x < n and
        x[block_x * block + thread_x] > limit) 1
        for 0 <= block_x < grid
    largest[block_x] = limit if tally1 < 0 else x[tally1]  for 0 <= block_x < grid
    """
    if isinstance(block, tuple) and block[1:] > (1, 1):
        raise ValueError("above: more threads along y or z would add again")
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    block_x = jnp.arange(grid)
    thread_x = jnp.arange(block)
    total = block_x[:, None] * block + thread_x
    count_2 = min(n, grid * block)
    x2 = jnp.pad(x[:count_2], (0, grid * block - count_2)).reshape(grid, block)
    both = (total < n) & (x2 > limit)
    count = count.at[:grid].set(both.sum(axis=1).astype(count.dtype))  # kernel.cu:58
    tally1 = jnp.max(jnp.where(both, total, -1), axis=1)  # kernel.cu:54
    some_x = jnp.resize(x, max(x.shape[0], 1))
    largest = largest.at[:grid].set(
        jnp.where(tally1 < 0, limit, some_x.at[tally1].get(mode="clip"))
    )  # kernel.cu:59
    return count, largest
