"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def tile_offsets(length, offset, n):
    """offset[i] = sum_(0 <= lane_2 < 16 where lane_2 < i % 16 and i + lane_2 - i % 16 < n)
        length[i + lane_2 - i % 16]
        for 0 <= i < n

    block is a multiple of 32 (whole warps)
    """
    count = min(n, length.shape[0], 16 * ((n + 15) // 16))
    length2 = jnp.pad(length[:count], (0, 16 * ((n + 15) // 16) - count)).reshape(
        (n + 15) // 16, 16
    )
    offset_new = jnp.pad(jnp.cumsum(length2, axis=1), ((0, 0), (1, 0)))[:, :16]
    return offset.at[:n].set(
        offset_new.ravel()[:n].astype(offset.dtype)
    )  # kernel.cu:10


@partial(jax.jit, static_argnames="n")
def highest_so_far(level, crest, n):
    """crest[i] = max_(0 <= lane_2 < 8 where lane_2 <= i % 8 and i + lane_2 - i % 8 <
        n)(level[i + lane_2 - i % 8])
        for 0 <= i < n

    block is a multiple of 32 (whole warps)
    """
    rows = -(-n // 8)
    level2 = jnp.pad(level[:n], (0, rows * 8 - n)).reshape(rows, 8)
    return crest.at[:n].set(jax.lax.cummax(level2, axis=1).ravel()[:n])  # kernel.cu:20


@partial(jax.jit, static_argnames="n")
def likelihood(p, total, n):
    """total[0] = total[0] * prod_i p[i]"""
    return total.at[0].multiply(jnp.prod(p[:n]))  # kernel.cu:30
