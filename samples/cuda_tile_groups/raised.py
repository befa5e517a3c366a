"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def tile_scan(in_, running, before, n):
    """running[lane + 32 * warp] = cumsum_lane(in[lane + 32 * warp] if lane + 32 * warp < n else 0)
        for 0 <= warp < (n - 1) // 32 + 1, 0 <= lane < 32, where lane + 32 * warp < n
    before[lane + 32 * warp] = exclusive_cumsum_lane(v)
        for 0 <= warp < (n - 1) // 32 + 1, 0 <= lane < 32, where lane + 32 * warp < n

    block is a multiple of 32 (whole warps)
    """
    rows = -(-n // 32)
    in2 = jnp.pad(in_[:n], (0, rows * 32 - n)).reshape(rows, 32)
    running = running.at[:n].set(jnp.cumsum(in2, axis=1).ravel()[:n])  # kernel.cu:14
    before = before.at[:n].set(
        (jnp.cumsum(in2, axis=1) - in2).ravel()[:n]
    )  # kernel.cu:15
    return running, before


@partial(jax.jit, static_argnames=("grid", "block"))
def best_of_eight(x, best, *, grid=None, block=None):
    """best[warp] = max_(0 <= lane_2 < 8)(x[warp, lane_2])  for 0 <= warp < threads // 8

    block is a multiple of 32 (whole warps)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block % 32:
        raise ValueError("best_of_eight: block must be a multiple of 32")
    threads = 8 * best.shape[0] if grid is None else grid * block
    if threads % 8:
        raise ValueError("best_of_eight: the threads must be whole groups of 8")
    x2 = x[:threads].reshape(threads // 8, 8)
    return best.at[: threads // 8].set(x2.max(axis=1))  # kernel.cu:24
