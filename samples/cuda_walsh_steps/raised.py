"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("grid", "block"))
def walsh_step(x, bit, *, grid=None, block=None):
    """One step of a Walsh-Hadamard transform in place: the pairs that differ in one bit of the index.

    x[i] += x[i ^ bit]  for 0 <= i < threads, where i & bit == 0
    x[pair] = x.0[i] - x.0[i ^ bit]  for 0 <= i < threads, where i & bit == 0
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    n = x.shape[0]
    threads = n if grid is None else grid * block
    i = jnp.arange(threads)
    equal = i.astype(jnp.uint32) & jnp.uint32(bit) == 0
    value = (i.astype(jnp.uint32) ^ jnp.uint32(bit)).astype(jnp.int32)
    b = x[jnp.clip(value, 0, n - 1)]  # kernel.cu:6
    x_2 = x.at[i].add(jnp.where(equal, b, 0.0))  # kernel.cu:7
    return x_2.at[jnp.where(equal, value, n)].set(
        jnp.pad(x, (0, threads))[:threads] - b, mode="drop"
    )  # kernel.cu:8
