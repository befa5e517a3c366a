"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("grid", "block"))
def sort_blocks(sorted, x, *, grid=None, block=None):
    """s[block_x, t] = x[block_x, t]  for 0 <= block_x < grid, 0 <= t < 8
    s[block_x, 2 * t] = s[block_x, 2 * t + 1]
        for 0 <= block_x < grid, 0 <= t < 4, where (s[block_x, 2 * t] > s[block_x, 2 * t + 1]) != (t % 2 != 0)
    s[block_x, 2 * t + 1] = s.2[block_x, 2 * t]
        for 0 <= block_x < grid, 0 <= t < 4, where (s.2[block_x, 2 * t] > s.2[block_x, 2 * t + 1]) != (t % 2 != 0)
    s[block_x, 2 * t - t % 2] = s[block_x, 2 * t + 2 - t % 2]
        for 0 <= block_x < grid, 0 <= t < 4, where (s[block_x, 2 * t - t % 2] > s[block_x, 2 * t + 2 - t % 2]) != (t & 2 != 0)
    s[block_x, 2 * t + 2 - t % 2] = s.4[block_x, 2 * t - t % 2]
        for 0 <= block_x < grid, 0 <= t < 4, where (s.4[block_x, 2 * t - t % 2] > s.4[block_x, 2 * t + 2 - t % 2]) != (t & 2 != 0)
    s[block_x, 2 * t] = s[block_x, 2 * t + 1]
        for 0 <= block_x < grid, 0 <= t < 4, where (s[block_x, 2 * t] > s[block_x, 2 * t + 1]) != (t & 2 != 0)
    s[block_x, 2 * t + 1] = s.6[block_x, 2 * t]
        for 0 <= block_x < grid, 0 <= t < 4, where (s.6[block_x, 2 * t] > s.6[block_x, 2 * t + 1]) != (t & 2 != 0)
    s[block_x, t] = s[block_x, t + 4]
        for 0 <= block_x < grid, 0 <= t < 4, where (s[block_x, t] > s[block_x, t + 4]) != (t & 4 != 0)
    ...

    a block has 4 threads along x
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block != 4:
        raise ValueError("sort_blocks: a block has 4 threads along x")
    blocks = sorted.shape[0] // 8 if grid is None else grid
    x2 = x[: 8 * blocks].reshape(blocks, 8)
    s = x2  # kernel.cu:7
    a = s[:, ::2]  # kernel.cu:14
    b = s[:, 1:9:2]
    t = jnp.arange(4)
    mod = t % 2
    down = mod != 0  # kernel.cu:10
    unequal = (a > b) != down
    s = s.at[:, ::2].set(jnp.where(unequal, b, a))  # kernel.cu:16
    s = s.at[:, 1:9:2].set(jnp.where(unequal, a, s[:, 1:9:2]))  # kernel.cu:17
    block_x = jnp.arange(blocks)
    difference = 2 * t - mod
    a_2 = s[:, difference]  # kernel.cu:14
    difference_2 = 2 * t + 2 - mod
    b_2 = s[:, difference_2]
    down_2 = t & 2 != 0  # kernel.cu:10
    unequal_2 = (a_2 > b_2) != down_2
    s = s.at[jnp.where(unequal_2, block_x[:, None], blocks), difference].set(
        b_2, mode="drop"
    )  # kernel.cu:16
    s = s.at[jnp.where(unequal_2, block_x[:, None], blocks), difference_2].set(
        a_2, mode="drop"
    )  # kernel.cu:17
    a_3 = s[:, ::2]  # kernel.cu:14
    b_3 = s[:, 1:9:2]
    unequal_3 = (a_3 > b_3) != down_2
    s = s.at[:, ::2].set(jnp.where(unequal_3, b_3, a_3))  # kernel.cu:16
    s = s.at[:, 1:9:2].set(jnp.where(unequal_3, a_3, s[:, 1:9:2]))  # kernel.cu:17
    a_4 = s[:, :4]  # kernel.cu:14
    b_4 = s[:, 4:]
    down_3 = t & 4 != 0  # kernel.cu:10
    unequal_4 = (a_4 > b_4) != down_3
    s = s.at[:, :4].set(jnp.where(unequal_4, b_4, a_4))  # kernel.cu:16
    s = s.at[:, 4:].set(jnp.where(unequal_4, a_4, s[:, 4:]))  # kernel.cu:17
    a_5 = s[:, difference]  # kernel.cu:14
    b_5 = s[:, difference_2]
    unequal_5 = (a_5 > b_5) != down_3
    s = s.at[jnp.where(unequal_5, block_x[:, None], blocks), difference].set(
        b_5, mode="drop"
    )  # kernel.cu:16
    s = s.at[jnp.where(unequal_5, block_x[:, None], blocks), difference_2].set(
        a_5, mode="drop"
    )  # kernel.cu:17
    a_6 = s[:, ::2]  # kernel.cu:14
    b_6 = s[:, 1:9:2]
    unequal_6 = (a_6 > b_6) != down_3
    s = s.at[:, ::2].set(jnp.where(unequal_6, b_6, a_6))  # kernel.cu:16
    s = s.at[:, 1:9:2].set(jnp.where(unequal_6, a_6, s[:, 1:9:2]))  # kernel.cu:17
    sorted2 = s  # kernel.cu:22
    return sorted.at[: 8 * blocks].set(sorted2.ravel())
