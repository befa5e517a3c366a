"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

N = 8


@partial(jax.jit, static_argnames=("grid", "block"))
def bitonic_blocks(a, *, grid=None, block=None):
    """sorts each block of N by a bitonic network

    s[block_x, t] = a[block_x, t]  for 0 <= block_x < grid, 0 <= t < 8
    s[block_x, t ^ 1] = a[block_x, t]
        for 0 <= block_x < grid, 0 <= t < 8, where t ^ 1 > t and (a[block_x, t] > s[block_x, t ^ 1]) == (t & 2 == 0)
    s[block_x, t] = s.1[block_x, t ^ 1]
        for 0 <= block_x < grid, 0 <= t < 8, where t ^ 1 > t and (a[block_x, t] > s.1[block_x, t ^ 1]) == (t & 2 == 0)
    s[block_x, t ^ 2] = s[block_x, t]
        for 0 <= block_x < grid, 0 <= t < 8, where t ^ 2 > t and (s[block_x, t] > s[block_x, t ^ 2]) == (t & 4 == 0)
    s[block_x, t] = s.3[block_x, t ^ 2]
        for 0 <= block_x < grid, 0 <= t < 8, where t ^ 2 > t and (s.3[block_x, t] > s.3[block_x, t ^ 2]) == (t & 4 == 0)
    s[block_x, t ^ 1] = s[block_x, t]
        for 0 <= block_x < grid, 0 <= t < 8, where t ^ 1 > t and (s[block_x, t] > s[block_x, t ^ 1]) == (t & 4 == 0)
    s[block_x, t] = s.5[block_x, t ^ 1]
        for 0 <= block_x < grid, 0 <= t < 8, where t ^ 1 > t and (s.5[block_x, t] > s.5[block_x, t ^ 1]) == (t & 4 == 0)
    s[block_x, t ^ 4] = s[block_x, t]
        for 0 <= block_x < grid, 0 <= t < 8, where t ^ 4 > t and (s[block_x, t] > s[block_x, t ^ 4]) == (t & 8 == 0)
    ...

    a block has 8 threads along x
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block != 8:
        raise ValueError("bitonic_blocks: a block has 8 threads along x")
    blocks = a.shape[0] // 8 if grid is None else grid
    a2 = a[: 8 * blocks].reshape(blocks, 8)
    s = a2.astype(jnp.float32)  # kernel.py:12
    block_x = jnp.arange(blocks)
    t = jnp.arange(8)
    p = t ^ 1  # kernel.py:18
    above = p > t
    low = s[block_x[:, None], jnp.clip(p, 0, N - 1)]  # kernel.py:21
    both = above & ((a2 > low) == (t & 2 == 0))
    s = s.at[jnp.where(both, block_x[:, None], blocks), p].set(
        a2, mode="drop"
    )  # kernel.py:22
    s = s.at[:, :8].set(jnp.where(both, low, s[:, :8]))  # kernel.py:23
    p_2 = t ^ 2  # kernel.py:18
    above_2 = p_2 > t
    low_2 = s[block_x[:, None], jnp.clip(p_2, 0, N - 1)]  # kernel.py:21
    equal = t & 4 == 0
    both_2 = above_2 & ((s[:, :8] > low_2) == equal)
    s = s.at[jnp.where(both_2, block_x[:, None], blocks), p_2].set(
        s[:, :8], mode="drop"
    )  # kernel.py:22
    s = s.at[:, :8].set(jnp.where(both_2, low_2, s[:, :8]))  # kernel.py:23
    low_3 = s[block_x[:, None], jnp.clip(p, 0, N - 1)]  # kernel.py:21
    both_3 = above & ((s[:, :8] > low_3) == equal)
    s = s.at[jnp.where(both_3, block_x[:, None], blocks), p].set(
        s[:, :8], mode="drop"
    )  # kernel.py:22
    s = s.at[:, :8].set(jnp.where(both_3, low_3, s[:, :8]))  # kernel.py:23
    p_3 = t ^ 4  # kernel.py:18
    low_4 = s[block_x[:, None], jnp.clip(p_3, 0, N - 1)]  # kernel.py:21
    equal_2 = t & 8 == 0
    both_4 = (p_3 > t) & ((s[:, :8] > low_4) == equal_2)
    s = s.at[jnp.where(both_4, block_x[:, None], blocks), p_3].set(
        s[:, :8], mode="drop"
    )  # kernel.py:22
    s = s.at[:, :8].set(jnp.where(both_4, low_4, s[:, :8]))  # kernel.py:23
    low_5 = s[block_x[:, None], jnp.clip(p_2, 0, N - 1)]  # kernel.py:21
    both_5 = above_2 & ((s[:, :8] > low_5) == equal_2)
    s = s.at[jnp.where(both_5, block_x[:, None], blocks), p_2].set(
        s[:, :8], mode="drop"
    )  # kernel.py:22
    s = s.at[:, :8].set(jnp.where(both_5, low_5, s[:, :8]))  # kernel.py:23
    low_6 = s[block_x[:, None], jnp.clip(p, 0, N - 1)]  # kernel.py:21
    both_6 = above & ((s[:, :8] > low_6) == equal_2)
    s = s.at[jnp.where(both_6, block_x[:, None], blocks), p].set(
        s[:, :8], mode="drop"
    )  # kernel.py:22
    s = s.at[:, :8].set(jnp.where(both_6, low_6, s[:, :8]))  # kernel.py:23
    a2_2 = s[:, :8].astype(a.dtype)  # kernel.py:27
    return a.at[: 8 * blocks].set(a2_2.ravel())
