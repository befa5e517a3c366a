"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def moments(x, out, n):
    """the sum and the sum of squares; one lane of each warp adds

    out[0] += sum_i x[i]
    out[1] += sum_i x[i] * x[i]

    block is a multiple of 32 (whole warps)
    """
    out = out.at[0].add(jnp.sum(x[:n]))  # kernel.py:25
    return out.at[1].add(jnp.sum(x[:n] * x[:n]))  # kernel.py:26


@partial(jax.jit, static_argnames="n")
def positives(x, out, n):
    """how many are positive, by ballots

    out[0] += sum_(i where x[i] > 0.0) 1

    block is a multiple of 32 (whole warps)
    """
    return out.at[0].add(jnp.sum(x[:n] > 0.0).astype(out.dtype))  # kernel.py:38


@partial(jax.jit, static_argnames=("grid", "block"))
def from_first(x, y, *, grid=None, block=None):
    """each element less the first of its warp

    y[warp, lane] = x[warp, lane] - x[warp, 0]  for 0 <= warp < threads // 32, 0 <= lane < 32

    block is a multiple of 32 (whole warps)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block % 32:
        raise ValueError("from_first: block must be a multiple of 32")
    threads = y.shape[0] if grid is None else grid * block
    if threads % 32:
        raise ValueError("from_first: the threads must be whole warps of 32")
    x2 = x[:threads].reshape(threads // 32, 32)
    y2 = (x2 - x2[:, 0, None]).astype(y.dtype)  # kernel.py:45
    return y.at[:threads].set(y2.ravel())


@partial(jax.jit, static_argnames=("grid", "block"))
def flags(x, y, limit, *, grid=None, block=None):
    """1 where some lane of the warp is above the limit, 2 where all are

    y[warp] = (1 if some else 0) + (1 if every else 0)  for 0 <= warp < threads // 32

    block is a multiple of 32 (whole warps)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block % 32:
        raise ValueError("flags: block must be a multiple of 32")
    threads = 32 * y.shape[0] if grid is None else grid * block
    if threads % 32:
        raise ValueError("flags: the threads must be whole warps of 32")
    x2 = x[:threads].reshape(threads // 32, 32)
    above = x2 > limit
    return y.at[: threads // 32].set(
        above.any(axis=1) + jnp.where(above.all(axis=1), 1, 0)
    )  # kernel.py:56
