"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

What the threads of a block answer together, and rounds whose distances are listed.
"""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def hot_cells(heat, counts, limit, n, *, grid, block):
    """
    counts[block_x] = sum_(thread_x where block_x * block + thread_x < n and
        heat[block_x * block + thread_x] > limit) 1
        for 0 <= block_x < grid
    """
    if isinstance(block, tuple) and block[1:] > (1, 1):
        raise ValueError("hot_cells: more threads along y or z would add again")
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    block_x = jnp.arange(grid)
    thread_x = jnp.arange(block)
    count = min(n, grid * block)
    heat2 = jnp.pad(heat[:count], (0, grid * block - count)).reshape(grid, block)
    return counts.at[:grid].set(
        jnp.sum(
            (block_x[:, None] * block + thread_x < n) & (heat2 > limit), axis=1
        ).astype(counts.dtype)
    )  # kernel.py:11


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def settled(change, done, n, *, grid, block):
    """
    done[block_x] = 1
        for 0 <= block_x < grid, where sum_(thread_x where block_x * block + thread_x < n and not abs(change[block_x * block + thread_x]) < 0.25) 1 == 0
    """
    if isinstance(block, tuple) and block[1:] > (1, 1):
        raise ValueError("settled: more threads along y or z would add again")
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    block_x = jnp.arange(grid)
    thread_x = jnp.arange(block)
    count = min(n, grid * block)
    change2 = jnp.pad(change[:count], (0, grid * block - count)).reshape(grid, block)
    return done.at[:grid].set(
        jnp.where(
            jnp.sum(
                (block_x[:, None] * block + thread_x < n) & ~(jnp.abs(change2) < 0.25),
                axis=1,
            )
            == 0,
            1,
            done[:grid],
        )
    )  # kernel.py:19


@partial(jax.jit, static_argnames=("grid", "block"))
def loudest(signal, peaks, *, grid=None, block=None):
    """peaks[block_x] = max_(0 <= t_2 < 64)(abs(signal[block_x, t_2]))  for 0 <= block_x < grid

    a block has 64 threads along x
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block != 64:
        raise ValueError("loudest: a block has 64 threads along x")
    blocks = peaks.shape[0] if grid is None else grid
    signal2 = signal[: 64 * blocks].reshape(blocks, 64)
    return peaks.at[:blocks].set(jnp.max(jnp.abs(signal2), axis=1))  # kernel.py:33


@partial(jax.jit, static_argnames="n")
def total_charge(q, total, n):
    """total[0] += sum_i q[i]

    block is a multiple of 32 (whole warps)
    """
    return total.at[0].add(jnp.sum(q[:n]))  # kernel.py:56
