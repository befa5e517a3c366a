"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

from functools import partial as _partial

import jax
import jax.numpy as jnp


@_partial(jax.jit, static_argnames=("n", "grid", "block"))
def block_sums(x, partial, n, *, grid, block):
    """each block sums its part of x

    partial[block_x] = sum_(t_2 where block_x * block + t_2 < n) x[block_x, t_2]
        for 0 <= block_x < grid

    block is a power of two (the tree reduction drops elements otherwise)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block & block - 1:
        raise ValueError("block_sums: block must be a power of two")
    x = x.astype(jnp.result_type(x, jnp.float32))
    count = min(n, grid * block)
    x2 = jnp.pad(x[:count], (0, grid * block - count)).reshape(grid, block)
    return partial.at[:grid].set(x2.sum(axis=1))  # kernel.py:21


@jax.jit
def sum_of_squares(x, out):
    """all blocks add to one cell; strides that double

    out[0] += sum_i x[i] * x[i]

    block is a power of two (the tree reduction drops elements otherwise)
    """
    return out.at[0].add(jnp.sum(x * x))  # kernel.py:42


@_partial(jax.jit, static_argnames="n")
def mean_of(x, out, n):
    """a grid-stride loop, then a tree

    out[0] += sum_t_2 x[t_2] / n

    block is a power of two (the tree reduction drops elements otherwise)
    """
    return out.at[0].add(jnp.sum(x[:n]) / max(n, 1))  # kernel.py:62


@_partial(jax.jit, static_argnames=("grid", "block"))
def row_largest(x, out, *, grid=None, block=None):
    """one block a row: the largest of it, by a tree

    out[r] = max_t_2(x[r, t_2])  for 0 <= r < grid

    block is a power of two (the tree reduction drops elements otherwise)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block & block - 1:
        raise ValueError("row_largest: block must be a power of two")
    blocks = out.shape[0] if grid is None else grid
    return out.at[:blocks].set(jnp.max(x[:blocks], axis=1))  # kernel.py:83
