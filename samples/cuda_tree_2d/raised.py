"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("width", "height", "grid", "block"))
def energy_of_blocks(field, energy, width, height, *, grid, block):
    """Reductions of blocks with two axes: by the flat number of the thread, down the columns and along a row, by rows.

    energy[block_y, block_x] = sum_(t_2, t where block_x * block + t < width and block_y * block.y +
        t_2 < height) field[block_y * block.y + t_2, block_x * block + t] *
        field[block_y * block.y + t_2, block_x * block + t]
        for 0 <= block_x < grid, 0 <= block_y < grid.y

    the number of threads that a tree reduction combines is a power of two (the tree reduction drops elements otherwise)
    """
    grid = (*grid, 1)[:2] if isinstance(grid, tuple) else (grid, 1)
    block = (*block, 1)[:2] if isinstance(block, tuple) else (block, 1)
    if block[0] * block[1] & block[0] * block[1] - 1:
        raise ValueError(
            "energy_of_blocks: the number of threads that a tree reduction combines must be a power of two"
        )
    field2 = jnp.resize(field, (height, width))
    field_at = jnp.pad(
        field2,
        (
            (0, max(grid[1] * block[1] - height, 0)),
            (0, max(grid[0] * block[0] - width, 0)),
        ),
    )[: grid[1] * block[1], : grid[0] * block[0]].reshape(
        grid[1], block[1], grid[0], block[0]
    )
    energy2 = jnp.sum(field_at * field_at, axis=(1, 3))  # kernel.cu:14
    return energy.at[: grid[1] * grid[0]].set(energy2.ravel())


@partial(jax.jit, static_argnames=("width", "height", "grid", "block"))
def peak_of_tiles(field, peak, width, height, *, grid, block):
    """peak[block_y, block_x] = max_(0 <= t_2 < 8, 0 <= t < 8 where 8 * block_x + t_2 < width and 8 *
        block_y + t < height)(field[8 * block_y + t, 8 * block_x + t_2])
        for 0 <= block_x < grid, 0 <= block_y < grid.y

    a block has 8 threads along x
    a block has 8 threads along y
    """
    grid = (*grid, 1)[:2] if isinstance(grid, tuple) else (grid, 1)
    block = (*block, 1)[:2] if isinstance(block, tuple) else (block, 1)
    if block[0] != 8:
        raise ValueError("peak_of_tiles: a block has 8 threads along x")
    if block[1] != 8:
        raise ValueError("peak_of_tiles: a block has 8 threads along y")
    field2 = jnp.resize(field, (height, width))
    peak2 = jnp.max(
        jnp.transpose(
            jnp.pad(
                field2,
                ((0, max(8 * grid[1] - height, 0)), (0, max(8 * grid[0] - width, 0))),
                constant_values=-jnp.inf,
            )[: 8 * grid[1], : 8 * grid[0]].reshape(grid[1], 8, grid[0], 8),
            (0, 2, 1, 3),
        ).reshape(grid[1], grid[0], 64),
        axis=2,
    )  # kernel.cu:32
    return peak.at[: grid[1] * grid[0]].set(peak2.ravel())
