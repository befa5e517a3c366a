"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("grid", "block"))
def part(keys, x, keys_out, out, bit, *, grid, block):
    """One step of a radix sort within a warp: the keys without the bit first, then those with it, each in order.

    keys_out[place] = keys[warp, lane]  for 0 <= warp < threads // 32, 0 <= lane < 32
    out[place] = x[warp, lane]  for 0 <= warp < threads // 32, 0 <= lane < 32

    block is a multiple of 32 (whole warps)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block % 32:
        raise ValueError("part: block must be a multiple of 32")
    threads = grid * block
    if threads % 32:
        raise ValueError("part: the threads must be whole warps of 32")
    warp = jnp.arange(threads // 32)
    keys2 = keys[:threads].reshape(threads // 32, 32)
    set = keys2 >> bit & 1 != 0  # kernel.cu:6
    choice = jnp.where(keys2 >> bit & 1 != 0, 1, 0)
    before = (jnp.cumsum(choice, axis=1) - choice).astype(jnp.int32)  # kernel.cu:8
    lane = jnp.arange(32)
    place = 32 * warp[:, None] + jnp.where(
        set,
        32
        - jnp.sum(keys2 >> bit & 1 != 0, axis=1, keepdims=True).astype(jnp.int32)
        + before,
        lane.astype(jnp.int32) - before,
    )
    keys_out = keys_out.at[place].set(keys2, unique_indices=True)  # kernel.cu:10
    x2 = x[:threads].reshape(threads // 32, 32)
    out = out.at[place].set(x2, unique_indices=True)  # kernel.cu:11
    return keys_out, out
