"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("grid", "block"))
def two_loads(x, out, n, *, grid, block):
    """each thread adds two elements first, and keeps its sum in a register

    out[block_x] = sum_t_2 ((x[block_x, t_2] if 2 * block_x * block + t_2 < n else 0.0) +
        x[block_x, t_2 + block] if 2 * block_x * block + t_2 + block < n else x[block_x, t_2] if 2 *
        block_x * block + t_2 < n else 0.0)
        for 0 <= block_x < grid

    block is a power of two (the tree reduction drops elements otherwise)
    """
    if block & block - 1:
        raise ValueError("two_loads: block must be a power of two")
    block_x = jnp.arange(grid)
    t_2 = jnp.arange(block)
    total = 2 * (block_x[:, None] * block) + t_2
    x2 = jnp.pad(
        x[: grid * (2 * block)], (0, max(grid * (2 * block) - x.shape[0], 0))
    ).reshape(grid, 2 * block)
    choice = jnp.where(total < n, x2[:, :block], 0.0)
    return out.at[:grid].set(
        jnp.sum(jnp.where(total + block < n, choice + x2[:, block:], choice), axis=1)
    )  # kernel.py:26


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def dot_const(a, b, c, n, *, grid=None, block=None):
    """a dot product by blocks of a fixed size

    c[block_x] = sum_(0 <= t_2 < 4, 0 <= i < (4 * grid + n - 1) // (4 * grid) where 4 * i * grid + 4
        * block_x + t_2 < n) a[i, block_x, t_2] * b[i, block_x, t_2]
        for 0 <= block_x < grid

    a block has 4 threads along x
    """
    if block is not None and block != 4:
        raise ValueError("dot_const: a block has 4 threads along x")
    blocks = c.shape[0] if grid is None else grid
    i = jnp.arange((4 * blocks + n - 1) // (4 * blocks))
    block_x = jnp.arange(blocks)
    t_2 = jnp.arange(4)
    mask = 4 * (i[:, None, None] * blocks) + 4 * block_x[:, None] + t_2 < n
    a3 = jnp.pad(
        a[: 4 * ((4 * blocks + n - 1) // (4 * blocks) * blocks)],
        (0, max(4 * ((4 * blocks + n - 1) // (4 * blocks) * blocks) - a.shape[0], 0)),
    ).reshape((4 * blocks + n - 1) // (4 * blocks), blocks, 4)
    b3 = jnp.pad(
        b[: 4 * ((4 * blocks + n - 1) // (4 * blocks) * blocks)],
        (0, max(4 * ((4 * blocks + n - 1) // (4 * blocks) * blocks) - b.shape[0], 0)),
    ).reshape((4 * blocks + n - 1) // (4 * blocks), blocks, 4)
    return c.at[:blocks].set(
        jnp.sum(jnp.where(mask, jnp.where(mask, a3, 0) * b3, 0), axis=(0, 2))
    )  # kernel.py:48


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def serial_sum(x, out, n, *, grid, block):
    """one thread sums what its block has loaded

    out[block_x] = sum_(k where block_x * block + k < n) x[block_x, k]  for 0 <= block_x < grid
    """
    return out.at[:grid].set(
        jnp.sum(
            jnp.pad(x[: min(n, grid * block)], (0, max(grid * block - n, 0))).reshape(
                grid, block
            ),
            axis=1,
        )
    )  # kernel.py:63
