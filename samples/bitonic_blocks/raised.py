"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("grid", "block"))
def bitonic_blocks(a, *, grid=None, block=None):
    """sorts each block of N by a bitonic network

    s[block_x, t] = a[block_x, t]  for 0 <= block_x < grid, 0 <= t < 8
    s[block_x, t] = a[block_x, t ^ 1]
        for 0 <= block_x < grid, 0 <= t < 8, where t > t ^ 1 and (a[block_x, t ^ 1] > s[block_x, t]) == ((t ^ 1) & 2 == 0)
    s[block_x, t] = s.1[block_x, t ^ 1]
        for 0 <= block_x < grid, 0 <= t < 8, where t ^ 1 > t and (a[block_x, t] > s.1[block_x, t ^ 1]) == (t & 2 == 0)
    s[block_x, t] = s[block_x, t ^ 2]
        for 0 <= block_x < grid, 0 <= t < 8, where t > t ^ 2 and (s[block_x, t ^ 2] > s[block_x, t]) == ((t ^ 2) & 4 == 0)
    s[block_x, t] = s.3[block_x, t ^ 2]
        for 0 <= block_x < grid, 0 <= t < 8, where t ^ 2 > t and (s.3[block_x, t] > s.3[block_x, t ^ 2]) == (t & 4 == 0)
    s[block_x, t] = s[block_x, t ^ 1]
        for 0 <= block_x < grid, 0 <= t < 8, where t > t ^ 1 and (s[block_x, t ^ 1] > s[block_x, t]) == ((t ^ 1) & 4 == 0)
    s[block_x, t] = s.5[block_x, t ^ 1]
        for 0 <= block_x < grid, 0 <= t < 8, where t ^ 1 > t and (s.5[block_x, t] > s.5[block_x, t ^ 1]) == (t & 4 == 0)
    s[block_x, t] = s[block_x, t ^ 4]
        for 0 <= block_x < grid, 0 <= t < 8, where t > t ^ 4 and (s[block_x, t ^ 4] > s[block_x, t]) == ((t ^ 4) & 8 == 0)
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
    t = jnp.arange(8)
    p = t ^ 1  # kernel.py:18
    above = t > p
    s_new = a2[:, p]
    s_2 = jnp.where(above & ((s_new > s) == (p & 2 == 0)), s_new, s).astype(
        jnp.float32
    )  # kernel.py:22
    above_2 = p > t
    low = s[:, p]  # kernel.py:21
    s_2 = jnp.where(above_2 & ((a2 > low) == (t & 2 == 0)), low, s_2)  # kernel.py:23
    p_2 = t ^ 2  # kernel.py:18
    above_3 = t > p_2
    low_2 = s_2[:, p_2]  # kernel.py:21
    s_3 = jnp.where(
        above_3 & ((low_2 > s_2) == (p_2 & 4 == 0)), low_2, s_2
    )  # kernel.py:22
    above_4 = p_2 > t
    equal = t & 4 == 0
    s_3 = jnp.where(above_4 & ((s_2 > low_2) == equal), low_2, s_3)  # kernel.py:23
    low_3 = s_3[:, p]  # kernel.py:21
    s_4 = jnp.where(above & ((low_3 > s_3) == (p & 4 == 0)), low_3, s_3)  # kernel.py:22
    s_4 = jnp.where(above_2 & ((s_3 > low_3) == equal), low_3, s_4)  # kernel.py:23
    p_3 = t ^ 4  # kernel.py:18
    low_4 = s_4[:, p_3]  # kernel.py:21
    s_5 = jnp.where(
        (t > p_3) & ((low_4 > s_4) == (p_3 & 8 == 0)), low_4, s_4
    )  # kernel.py:22
    equal_2 = t & 8 == 0
    s_5 = jnp.where((p_3 > t) & ((s_4 > low_4) == equal_2), low_4, s_5)  # kernel.py:23
    low_5 = s_5[:, p_2]  # kernel.py:21
    s_6 = jnp.where(
        above_3 & ((low_5 > s_5) == (p_2 & 8 == 0)), low_5, s_5
    )  # kernel.py:22
    s_6 = jnp.where(above_4 & ((s_5 > low_5) == equal_2), low_5, s_6)  # kernel.py:23
    low_6 = s_6[:, p]  # kernel.py:21
    s_6 = jnp.where(
        above & ((low_6 > s_6) == (p & 8 == 0)) | above_2 & ((s_6 > low_6) == equal_2),
        low_6,
        s_6,
    )  # kernel.py:22
    a2 = s_6.astype(a.dtype)  # kernel.py:27
    return a.at[: 8 * blocks].set(a2.ravel())
