"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("modes", "cells", "T", "grid", "block"))
def project(basis, state, out, modes, cells, *, T, grid=None, block=None):
    """out[row, col] = sum_(0 <= k < modes / T * T) basis[row, k] * state[k, col]
        for 0 <= col < cells, 0 <= row < threads.y

    a block has T threads along x
    a block has T threads along y
    """
    if grid is not None:
        grid = (*grid, 1)[:2] if isinstance(grid, tuple) else (grid, 1)
    if block is not None:
        block = (*block, 1)[:2] if isinstance(block, tuple) else (block, 1)
    if block is not None and block[0] != T:
        raise ValueError("project: a block has T threads along x")
    if block is not None and T * grid[0] != cells:
        raise ValueError("project: the launch must be as wide as a row")
    if block is not None and block[1] != T:
        raise ValueError("project: a block has T threads along y")
    threads_y = out.shape[0] // cells if grid is None else grid[1] * block[1]
    basis2 = jnp.resize(basis, (threads_y, modes))
    row = jnp.arange(threads_y)
    k = jnp.arange(modes // T * T)
    state2 = state[: modes // T * T * cells].reshape(modes // T * T, cells)
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        out2 = basis2.at[row[:, None], k].get(mode="clip") @ state2  # kernel.cu:16
    return out.at[: threads_y * cells].set(out2.ravel())


@partial(jax.jit, static_argnames=("B", "grid", "block"))
def mirror_blocks(x, y, *, B, grid=None, block=None):
    """y[block_x, thread_x] = x[block_x, B - thread_x - 1]  for 0 <= block_x < grid, 0 <= thread_x < B

    a block has B threads along x
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block != B:
        raise ValueError("mirror_blocks: a block has B threads along x")
    blocks = y.shape[0] // B if grid is None else grid
    x2 = x[: blocks * B].reshape(blocks, B)
    y2 = x2[:, ::-1]  # kernel.cu:24
    return y.at[: blocks * B].set(y2.ravel())


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def tail_by_warp(x, sums, n, *, grid, block):
    """halving in shared memory as long as there are several warps, then one warp's shuffles

    sums[block_x] = sum_(t_2 where block_x * block + t_2 < n) x[block_x, t_2]  for 0 <= block_x < grid

    block is a power of two (so the source's tree takes all)
    block has 64 threads or more
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block & block - 1:
        raise ValueError("tail_by_warp: block must be a power of two")
    if block < 64:
        raise ValueError("tail_by_warp: block must have 64 threads or more")
    count = min(n, grid * block)
    x2 = jnp.pad(x[:count], (0, grid * block - count)).reshape(grid, block)
    return sums.at[:grid].set(x2.sum(axis=1))  # kernel.cu:40
