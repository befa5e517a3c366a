"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("rows", "cols"))
def row_means(x, mean, rows, cols):
    """the mean of each row, a warp a row; the lanes add up in shared memory and run in step

    mean[row] = (sum_lane_2 x[row, lane_2]) / cols  for 0 <= row < rows

    block is a multiple of 32 (whole warps)
    """
    x2 = x[: rows * cols].reshape(rows, cols)
    return mean.at[:rows].set(x2.sum(axis=1) / cols)  # kernel.cu:16


@partial(jax.jit, static_argnames=("grid", "block"))
def layer(input, weight, sums, *, grid=None, block=None):
    """sums[block_y, tx] = sum_(0 <= t < 16) weight[block_y, t, tx] * input[block_y, t]
        for 0 <= tx < 16, 0 <= block_y < grid.y

    a block has 16 threads along x
    a block has 16 threads along y
    """
    if grid is not None:
        grid = (*grid, 1)[:2] if isinstance(grid, tuple) else (grid, 1)
    if block is not None:
        block = (*block, 1)[:2] if isinstance(block, tuple) else (block, 1)
    if block is not None and block[0] != 16:
        raise ValueError("layer: a block has 16 threads along x")
    if block is not None and block[1] != 16:
        raise ValueError("layer: a block has 16 threads along y")
    blocks_y = sums.shape[0] // 16 if grid is None else grid[1]
    weight3 = weight[: 256 * blocks_y].reshape(blocks_y, 16, 16)
    input2 = input[: 16 * blocks_y].reshape(blocks_y, 16)
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        sums2 = jnp.einsum("bta,bt->ba", weight3, input2)  # kernel.cu:38
    return sums.at[: 16 * blocks_y].set(sums2.ravel())


@partial(jax.jit, static_argnames=("pitch", "grid", "block"))
def filtered_rows(x, weight, y, width, pitch, *, grid, block):
    """tile[block_x, block_y, thread_y, thread_x] = x[2 * block_y + thread_y, 32 * block_x + thread_x - 8]
        for 0 <= block_x < pitch // 32, 0 <= block_y < grid.y, 0 <= thread_y < 2, 8 <= thread_x < 40
    tile[block_x, block_y, thread_y, thread_x] =
        x[2 * block_y * pitch + thread_y * pitch + 32 * block_x + thread_x - 8] if 32 * block_x +
        thread_x - 8 >= 0 else 0.0
        for 0 <= block_x < pitch // 32, 0 <= thread_x < 8, 0 <= block_y < grid.y, 0 <= thread_y < 2
    tile[block_x, block_y, thread_y, thread_x + 40] =
        x[2 * block_y * pitch + thread_y * pitch + 32 * block_x + thread_x + 32] if width + 8 - 32 *
        block_x - thread_x > 40 else 0.0
        for 0 <= block_x < pitch // 32, 0 <= thread_x < 8, 0 <= block_y < grid.y, 0 <= thread_y < 2
    y[2 * block_y + thread_y, 32 * block_x + thread_x - 8] = sum_(-3 <= j < 4) weight[3 - j] *
        tile[block_x, block_y, thread_y, j + thread_x]
        for 0 <= block_x < pitch // 32, 0 <= block_y < grid.y, 0 <= thread_y < 2, 8 <= thread_x < 40

    pitch is a multiple of 32
    a block has 8 threads along x
    a block has 2 threads along y
    """
    grid = (*grid, 1)[:2] if isinstance(grid, tuple) else (grid, 1)
    block = (*block, 1)[:2] if isinstance(block, tuple) else (block, 1)
    if pitch % 32:
        raise ValueError("filtered_rows: pitch must be a multiple of 32")
    if block[0] != 8:
        raise ValueError("filtered_rows: a block has 8 threads along x")
    if 32 * grid[0] != pitch:
        raise ValueError(
            "filtered_rows: the launch must be as wide as a row, with 4 elements for each thread"
        )
    if block[1] != 2:
        raise ValueError("filtered_rows: a block has 2 threads along y")
    x2 = jnp.resize(x, (2 * grid[1], pitch))
    block_x = jnp.arange(pitch // 32)
    thread_x = jnp.arange(5, 8)
    block_y = jnp.arange(grid[1])
    thread_y = jnp.arange(2)
    thread_x_2 = jnp.arange(3)
    tile = jnp.concatenate(
        (
            jnp.where(
                32 * block_x[:, None] + thread_x - 8 >= 0,
                x.at[
                    2 * (block_y[:, None, None, None] * pitch)
                    + thread_y[:, None, None] * pitch
                    + 32 * block_x[:, None]
                    + thread_x
                    - 8
                ].get(mode="clip"),
                0.0,
            ),
            x2.reshape(grid[1], 2, pitch // 32, 32),
            jnp.where(
                width + 8 - 32 * block_x[:, None] - thread_x_2 > 40,
                x.at[
                    2 * (block_y[:, None, None, None] * pitch)
                    + thread_y[:, None, None] * pitch
                    + 32 * block_x[:, None]
                    + thread_x_2
                    + 32
                ].get(mode="clip"),
                0.0,
            ),
        ),
        axis=3,
    )  # kernel.cu:56
    y4 = (
        weight[6] * tile[:, :, :, :-6]
        + weight[5] * tile[:, :, :, 1:-5]
        + weight[4] * tile[:, :, :, 2:-4]
        + weight[3] * tile[:, :, :, 3:-3]
        + weight[2] * tile[:, :, :, 4:-2]
        + weight[1] * tile[:, :, :, 5:-1]
        + weight[0] * tile[:, :, :, 6:]
    )  # kernel.cu:62
    return y.at[: 2 * grid[1] * pitch].set(y4.ravel())
