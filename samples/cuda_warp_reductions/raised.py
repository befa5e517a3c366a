"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def block_totals(x, total, n, *, grid, block):
    """every block sums its part of x

    total[block_x] = sum_(t where block_x * block + t < n) x[block_x, t]  for 0 <= block_x < grid

    block is a multiple of 32 (whole warps)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block % 32:
        raise ValueError("block_totals: block must be a multiple of 32")
    count = min(n, grid * block)
    x2 = jnp.pad(x[:count], (0, grid * block - count)).reshape(grid, block)
    return total.at[:grid].set(x2.sum(axis=1))  # kernel.cu:30


@partial(jax.jit, static_argnames="n")
def dot(a, b, out, n):
    """a dot product: warps sum, one lane of each adds

    out[0] += sum_lane_2 a[lane_2] * b[lane_2]

    block is a multiple of 32 (whole warps)
    """
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        return out.at[0].add(a[:n] @ b[:n])  # kernel.cu:38


@partial(jax.jit, static_argnames=("rows", "cols"))
def softmax_rows(x, y, rows, cols):
    """one warp a row: a softmax

    y[row, lane] = exp(x[row, lane] - top) / total  for 0 <= row < rows, 0 <= lane < cols

    block is a multiple of 32 (whole warps)
    """
    x2 = x[: rows * cols].reshape(rows, cols)
    top = jax.lax.stop_gradient(x2.max(axis=1, initial=-jnp.inf))  # kernel.cu:10
    exp = jnp.exp(x2 - top[:, None])
    y2 = exp / exp.sum(axis=1, keepdims=True)  # kernel.cu:52
    return y.at[: rows * cols].set(y2.ravel())


@partial(jax.jit, static_argnames=("grid", "block"))
def warp_scan(x, y, *, grid=None, block=None):
    """running sums within each warp

    y[warp, lane] = cumsum_lane(x[warp, lane])  for 0 <= warp < threads // 32, 0 <= lane < 32

    block is a multiple of 32 (whole warps)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block % 32:
        raise ValueError("warp_scan: block must be a multiple of 32")
    threads = y.shape[0] if grid is None else grid * block
    if threads % 32:
        raise ValueError("warp_scan: the threads must be whole warps of 32")
    x2 = x[:threads].reshape(threads // 32, 32)
    y2 = jnp.cumsum(x2, axis=1)  # kernel.cu:64
    return y.at[:threads].set(y2.ravel())
