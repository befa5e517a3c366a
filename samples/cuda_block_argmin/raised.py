"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("grid", "block"))
def block_argmin(x, least, where, n, *, grid=None, block=None):
    """the least element of each block and where it is; of equal ones the tree decides which

    value[block_x, t] = x[16 * block_x + t] if 16 * block_x + t < n else 3.4e+38
        for 0 <= block_x < grid, 0 <= t < 16
    index[block_x, t] = 16 * block_x + t  for 0 <= block_x < grid, 0 <= t < 16
    value[block_x, t] = value[block_x, t + 8]
        for 0 <= block_x < grid, 0 <= t < 8, where value[block_x, t + 8] < (x[16 * block_x + t] if 16 * block_x + t < n else 3.4e+38)
    index[block_x, t] = index[block_x, t + 8]
        for 0 <= block_x < grid, 0 <= t < 8, where value.1[block_x, t + 8] < (x[16 * block_x + t] if 16 * block_x + t < n else 3.4e+38)
    value[block_x, t] = min(value[block_x, t], value[block_x, t + 4])
        for 0 <= block_x < grid, 0 <= t < 4
    index[block_x, t] = index[block_x, t + 4]
        for 0 <= block_x < grid, 0 <= t < 4, where value.2[block_x, t + 4] < value.2[block_x, t]
    value[block_x, t] = min(value[block_x, t], value[block_x, t + 2])
        for 0 <= block_x < grid, 0 <= t < 2
    index[block_x, t] = index[block_x, t + 2]
        for 0 <= block_x < grid, 0 <= t < 2, where value.3[block_x, t + 2] < value.3[block_x, t]
    ...

    a block has 16 threads along x
    """
    m = x.shape[0]
    if block is not None and block != 16:
        raise ValueError("block_argmin: a block has 16 threads along x")
    blocks = least.shape[0] if grid is None else grid
    block_x = jnp.arange(blocks)
    t = jnp.arange(16)
    index_new = 16 * block_x[:, None] + t
    value_new = jnp.where(index_new < n, x[jnp.clip(index_new, 0, m - 1)], 3.4e38)
    value = value_new  # kernel.cu:9
    index = index_new  # kernel.cu:10
    t_2 = jnp.arange(8)
    index_new_2 = 16 * block_x[:, None] + t_2
    value_new_2 = jnp.where(index_new_2 < n, x[jnp.clip(index_new_2, 0, m - 1)], 3.4e38)
    below = value[:, 8:16] < value_new_2
    value = value.at[:, :8].set(
        jnp.where(below, value[:, 8:16], value[:, :8])
    )  # kernel.cu:14
    index = index.at[:, :8].set(
        jnp.where(below, index[:, 8:16], index[:, :8])
    )  # kernel.cu:15
    value_2 = value.at[:, :4].set(
        jnp.minimum(value[:, :4], value[:, 4:8])
    )  # kernel.cu:14
    index = index.at[:, :4].set(
        jnp.where(value[:, 4:8] < value[:, :4], index[:, 4:8], index[:, :4])
    )  # kernel.cu:15
    value_3 = value_2.at[:, :2].set(
        jnp.minimum(value_2[:, :2], value_2[:, 2:4])
    )  # kernel.cu:14
    index = index.at[:, :2].set(
        jnp.where(value_2[:, 2:4] < value_2[:, :2], index[:, 2:4], index[:, :2])
    )  # kernel.cu:15
    value_4 = value_3.at[:, 0].set(
        jnp.minimum(value_3[:, 0], value_3[:, 1])
    )  # kernel.cu:14
    index = index.at[:, 0].set(
        jnp.where(value_3[:, 1] < value_3[:, 0], index[:, 1], index[:, 0])
    )  # kernel.cu:15
    least = least.at[:blocks].set(value_4[:, 0])  # kernel.cu:20
    where = where.at[:blocks].set(index[:, 0])  # kernel.cu:21
    return least, where
