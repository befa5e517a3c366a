"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def block_scan(x, y, n, *, grid, block):
    """running sums within each block (Hillis and Steele)

    y[block_x * block + t] = cumsum_t(x[block_x, t] if block_x * block + t < n else 0.0)
        for 0 <= block_x < grid, 0 <= t < block, where block_x * block + t < n
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    x = x.astype(jnp.result_type(x, jnp.float32))
    count = min(n, grid * block)
    x2 = jnp.pad(x[:count], (0, grid * block - count)).reshape(grid, block)
    return y.at[:count].set(jnp.cumsum(x2, axis=1).ravel()[:count])  # kernel.py:22
