"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("grid", "block"))
def exclusive_scan(in_, out, *, grid=None, block=None):
    """tree[block_x, t_2] = exclusive_cumsum_t_2(in[128 * block_x + t_2])
        for 0 <= block_x < grid, 0 <= t_2 < 128
    out[block_x, element] = tree[block_x, element]  for 0 <= block_x < grid, 0 <= element < 128

    a block has 64 threads along x
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block != 64:
        raise ValueError("exclusive_scan: a block has 64 threads along x")
    blocks = out.shape[0] // 128 if grid is None else grid
    tree = jnp.pad(
        jnp.cumsum(in_[: 128 * blocks].reshape(blocks, 128), axis=1)[:, :-1],
        ((0, 0), (1, 0)),
    )  # kernel.cu:11
    out2 = tree  # kernel.cu:29
    return out.at[: 128 * blocks].set(out2.ravel())
