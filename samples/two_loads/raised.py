"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def two_loads(x, out, n, *, grid, block):
    """each thread adds two elements first, and keeps its sum in a register

    out[block_x] = sum_(0 <= t_2 < 2 * block where 2 * block_x * block + t_2 < n) x[block_x, t_2]
        for 0 <= block_x < grid

    block is a power of two (the tree reduction drops elements otherwise)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block & block - 1:
        raise ValueError("two_loads: block must be a power of two")
    count = min(n, grid * (2 * block))
    x2 = jnp.pad(x[:count], (0, grid * (2 * block) - count)).reshape(grid, 2 * block)
    return out.at[:grid].set(x2.sum(axis=1))  # kernel.py:26


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def dot_const(a, b, c, n, *, grid=None, block=None):
    """a dot product by blocks of a fixed size

    c[block_x] = sum_(0 <= t_2 < 4, 0 <= i_round < (4 * grid + n - 1) // (4 * grid) where 4 *
        i_round * grid + 4 * block_x + t_2 < n) a[i_round, block_x, t_2] * b[i_round, block_x, t_2]
        for 0 <= block_x < grid

    a block has 4 threads along x
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block != 4:
        raise ValueError("dot_const: a block has 4 threads along x")
    blocks = c.shape[0] if grid is None else grid
    rows = -(-n // (4 * blocks))
    product = jnp.pad(a[:n] * b[:n], (0, rows * (4 * blocks) - n)).reshape(
        rows, blocks, 4
    )
    return c.at[:blocks].set(product.sum(axis=(0, 2)))  # kernel.py:48


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def serial_sum(x, out, n, *, grid, block):
    """one thread sums what its block has loaded

    out[block_x] = sum_(k where block_x * block + k < n) x[block_x, k]  for 0 <= block_x < grid
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    x = x.astype(jnp.result_type(x, jnp.float32))
    count = min(n, grid * block)
    x2 = jnp.pad(x[:count], (0, grid * block - count)).reshape(grid, block)
    return out.at[:grid].set(x2.sum(axis=1))  # kernel.py:63
