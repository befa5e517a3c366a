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
    block_x = jnp.arange(grid)
    t = jnp.arange(block)
    total = block_x[:, None] * block + t
    return y.at[jnp.where(total < n, total, y.shape[0])].set(
        jnp.cumsum(
            jnp.pad(x[: min(n, grid * block)], (0, max(grid * block - n, 0))).reshape(
                grid, block
            ),
            axis=1,
        ),
        mode="drop",
    )  # kernel.py:22
