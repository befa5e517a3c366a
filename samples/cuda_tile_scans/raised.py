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
    lane_2 = jnp.arange(16)
    i = jnp.arange(n)
    mod = i % 16
    difference = i[:, None] + lane_2 - mod[:, None]
    return offset.at[:n].set(
        jnp.sum(
            jnp.where(
                (lane_2 < mod[:, None]) & (difference < n),
                length[jnp.clip(difference, 0, length.shape[0] - 1)],
                0,
            ),
            axis=1,
        ).astype(offset.dtype)
    )  # kernel.cu:10


@partial(jax.jit, static_argnames="n")
def highest_so_far(level, crest, n):
    """crest[i] = max_(0 <= lane_2 < 8 where lane_2 <= i % 8 and i + lane_2 - i % 8 <
        n)(level[i + lane_2 - i % 8])
        for 0 <= i < n

    block is a multiple of 32 (whole warps)
    """
    lane_2 = jnp.arange(8)
    i = jnp.arange(n)
    mod = i % 8
    difference = i[:, None] + lane_2 - mod[:, None]
    return crest.at[:n].set(
        jnp.max(
            jnp.where(
                (lane_2 <= mod[:, None]) & (difference < n),
                level[jnp.clip(difference, 0, level.shape[0] - 1)],
                -jnp.inf,
            ),
            axis=1,
        )
    )  # kernel.cu:20


@partial(jax.jit, static_argnames="n")
def likelihood(p, total, n):
    """total[0] = total[0] * prod_i p[i]"""
    return total.at[0].multiply(jnp.prod(p[:n]))  # kernel.cu:30
