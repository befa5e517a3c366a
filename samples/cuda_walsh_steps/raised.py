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
    i = jnp.arange(n)
    threads = n if grid is None else grid * block
    pair = i.astype(jnp.uint32) ^ jnp.uint32(bit)  # kernel.cu:4
    value = pair.astype(jnp.int32)
    b = x.at[value].get(mode="clip")  # kernel.cu:6
    x_2 = jnp.where(
        (i < threads) & (i.astype(jnp.uint32) & jnp.uint32(bit) == 0), x + b, x
    )  # kernel.cu:7
    return jnp.where(
        (value < threads) & (pair & jnp.uint32(bit) == 0), b - x, x_2
    )  # kernel.cu:8
