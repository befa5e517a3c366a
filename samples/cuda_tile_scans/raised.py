"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def tile_offsets(length, offset, n):
    """offset[lane + 16 * warp] = exclusive_cumsum_lane(running)
        for 0 <= warp < (n - 1) // 16 + 1, 0 <= lane < 16, where lane + 16 * warp < n

    block is a multiple of 32 (whole warps)
    """
    rows = -(-n // 16)
    length2 = jnp.pad(length[:n], (0, rows * 16 - n)).reshape(rows, 16)
    return offset.at[:n].set(
        (jnp.cumsum(length2, axis=1) - length2).ravel()[:n]
    )  # kernel.cu:10


@partial(jax.jit, static_argnames="n")
def highest_so_far(level, crest, n):
    """crest[rank + 8 * warp] = cummax_rank(level[rank + 8 * warp] if rank + 8 * warp < n else -inf)
        for 0 <= warp < (n - 1) // 8 + 1, 0 <= rank < 8, where rank + 8 * warp < n

    block is a multiple of 32 (whole warps)
    """
    rows = -(-n // 8)
    level2 = jnp.pad(level[:n], (0, rows * 8 - n), constant_values=-jnp.inf).reshape(
        rows, 8
    )
    return crest.at[:n].set(jax.lax.cummax(level2, axis=1).ravel()[:n])  # kernel.cu:20


@partial(jax.jit, static_argnames="n")
def likelihood(p, total, n):
    """total[0] = total[0] * prod_i p[i]"""
    return total.at[0].multiply(jnp.prod(p[:n]))  # kernel.cu:30
