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
        jnp.concatenate(
            (
                jnp.full((max((n - 1) // 32 + 1, 0), 1), 0),
                jnp.cumsum(in2, axis=1)[:, :-1],
            ),
            axis=1,
        ).ravel()[:n]
    )  # kernel.cu:15
    return running, before


@partial(jax.jit, static_argnames=("grid", "block"))
def best_of_eight(x, best, *, grid, block):
    """best[lane + 4 * warp] = max_(0 <= lane_2 < 8)(x[warp, 8 * lane + lane_2])
        for 0 <= warp < threads // 32, 0 <= lane < 4

    block is a multiple of 32 (whole warps)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block % 32:
        raise ValueError("best_of_eight: block must be a multiple of 32")
    threads = grid * block
    if threads % 32:
        raise ValueError("best_of_eight: the threads must be whole warps of 32")
    lane = jnp.arange(4)
    warp = jnp.arange(threads // 32)
    x2 = x[: 32 * (threads // 32)].reshape(threads // 32, 32)
    return best.at[lane + 4 * warp[:, None]].set(
        jnp.maximum(
            jnp.maximum(
                jnp.maximum(
                    jnp.maximum(
                        jnp.maximum(
                            jnp.maximum(
                                jnp.maximum(x2[:, ::8], x2[:, 1::8]), x2[:, 2::8]
                            ),
                            x2[:, 3::8],
                        ),
                        x2[:, 4::8],
                    ),
                    x2[:, 5::8],
                ),
                x2[:, 6::8],
            ),
            x2[:, 7::8],
        )
    )  # kernel.cu:24
