"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("grid", "block"))
def walsh_step(x, bit, *, grid=None, block=None):
    """One step of a Walsh-Hadamard transform in place: the pairs that differ in one bit of the index.

    x[i] += x[i ^ bit]  for 0 <= i < threads, where i & bit == 0
    x[i] = x.0[i ^ bit] - x.0[i]  for 0 <= i < x.shape[0], where pair < threads and pair & bit == 0
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    n = x.shape[0]
    threads = n if grid is None else grid * block
    i = jnp.arange(threads)
    pair = i.astype(jnp.uint32) ^ jnp.uint32(bit)  # kernel.cu:4
    value = pair.astype(jnp.int32)
    b = x[jnp.clip(value, 0, n - 1)]  # kernel.cu:6
    x_2 = x.at[:threads].add(
        jnp.where(i.astype(jnp.uint32) & jnp.uint32(bit) == 0, b, 0.0)[:n]
    )  # kernel.cu:7
    i_2 = jnp.arange(n)
    pair_2 = i_2.astype(jnp.uint32) ^ jnp.uint32(bit)  # kernel.cu:4
    value_2 = pair_2.astype(jnp.int32)
    b_2 = x[jnp.clip(value_2, 0, n - 1)]  # kernel.cu:6
    return jnp.where(
        (value_2 < threads) & (pair_2 & jnp.uint32(bit) == 0), b_2 - x, x_2
    )  # kernel.cu:8
