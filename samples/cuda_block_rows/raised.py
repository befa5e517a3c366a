"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

TILE = 64


@partial(jax.jit, static_argnames="n")
def centred(x, y, n):
    """each cell less the mean of its block

    y[64 * block_x + t] = x[64 * block_x + t] - (sum_(0 <= t_2 < 64 where 64 * block_x + t_2 < n)
        x[64 * block_x + t_2]) / TILE
        for 0 <= block_x < (n - 1) // 64 + 1, 0 <= t < 64, where 64 * block_x + t < n

    a block has 64 threads along x
    """
    rows = -(-n // 64)
    x2 = jnp.pad(x[:n], (0, rows * 64 - n)).reshape(rows, 64)
    return y.at[:n].set(
        (x2 - x2.sum(axis=1, keepdims=True) / TILE).ravel()[:n]
    )  # kernel.cu:14


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def turned(x, y, n, *, grid, block):
    """every block turned round

    y[block_x * block + t] = x[block_x, block - t - 1] if block_x * block + block - t - 1 < n else 0.0
        for 0 <= block_x < grid, 0 <= t < block, where block_x * block + t < n
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    count = min(n, grid * block)
    count_2 = min(n, x.shape[0], grid * block)
    x2 = jnp.pad(x[:count_2], (0, grid * block - count_2)).reshape(grid, block)
    return y.at[:count].set(x2[:, ::-1].ravel()[:count])  # kernel.cu:23


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def shares(x, w, share, n, *, grid, block):
    """weighted sums of blocks by a grid-stride loop

    share[block_x] = sum_(t, 0 <= i_round < (block * grid + n - 1) // (block * grid) where i_round *
        block * grid + block_x * block + t < n) x[i_round, block_x, t] * w[i_round, block_x, t]
        for 0 <= block_x < grid

    block is a power of two (the tree reduction drops elements otherwise)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block & block - 1:
        raise ValueError("shares: block must be a power of two")
    rows = -(-n // (grid * block))
    product = jnp.pad(x[:n] * w[:n], (0, rows * (grid * block) - n)).reshape(
        rows, grid, block
    )
    return share.at[:grid].set(product.sum(axis=(0, 2)))  # kernel.cu:37
