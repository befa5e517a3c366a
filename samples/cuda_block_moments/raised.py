"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def block_moments(x, least, greatest, mean, n, *, grid, block):
    """least, greatest and mean of each block's elements, by three trees in one dynamic shared array

    least[block_x] = min_(t_2 where block_x * block + t_2 < n)(x[block_x, t_2])  for 0 <= block_x < grid
    greatest[block_x] = max_(t_2 where block_x * block + t_2 < n)(x[block_x, t_2])
        for 0 <= block_x < grid
    mean[block_x] = (sum_(t_2 where block_x * block + t_2 < n) x[block_x, t_2]) / block
        for 0 <= block_x < grid

    block is a power of two (the tree reduction drops elements otherwise)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block & block - 1:
        raise ValueError("block_moments: block must be a power of two")
    count = min(n, grid * block)
    x2 = jnp.pad(x[:count], (0, grid * block - count), constant_values=jnp.inf).reshape(
        grid, block
    )
    least = least.at[:grid].set(x2.min(axis=1))  # kernel.cu:22
    x2_2 = jnp.pad(
        x[:count], (0, grid * block - count), constant_values=-jnp.inf
    ).reshape(grid, block)
    greatest = greatest.at[:grid].set(x2_2.max(axis=1))  # kernel.cu:23
    x2_3 = jnp.pad(x[:count], (0, grid * block - count)).reshape(grid, block)
    mean = mean.at[:grid].set(x2_3.sum(axis=1) / block)  # kernel.cu:24
    return least, greatest, mean
