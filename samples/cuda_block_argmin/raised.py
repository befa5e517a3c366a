"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def block_argmin(x, least, where, n, *, grid=None, block=None):
    """the least element of each block and where it is; of equal ones the tree decides which

    least[block_x] = min_(0 <= t_2 < 16)(x[16 * block_x + t_2] if 16 * block_x + t_2 < n else 3.4e+38)
        for 0 <= block_x < grid
    where[block_x] = 16 * block_x + 8 * (...) + 4 * (...) + 2 * (...) + (...) % 2
        for 0 <= block_x < grid

    a block has 16 threads along x
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block != 16:
        raise ValueError("block_argmin: a block has 16 threads along x")
    blocks = least.shape[0] if grid is None else grid
    count = min(n, 16 * blocks)
    x2 = jnp.pad(x[:count], (0, 16 * blocks - count), constant_values=3.4e38).reshape(
        blocks, 16
    )
    least_new = x2.min(axis=1)
    least = least.at[:blocks].set(least_new)  # kernel.cu:20
    block_x = jnp.arange(blocks)
    bit_order = jnp.arange(16).reshape((2,) * 4).T.ravel()
    where = where.at[:blocks].set(
        (
            16 * block_x
            + bit_order[
                jnp.min(
                    jnp.where(
                        x2 == least_new[:, None], bit_order, jnp.iinfo(jnp.int32).max
                    ),
                    axis=1,
                )
            ].astype(jnp.int32)
        ).astype(where.dtype)
    )  # kernel.cu:21
    return least, where
