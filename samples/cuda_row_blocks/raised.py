"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("grid", "block"))
def edge_softmax(ptr, score, weight, *, grid, block):
    """the weights of each node's edges become probabilities

    weight[k] = exp(score[k]) / total
        for 0 <= node < grid, 0 <= k < min(score.shape[0], weight.shape[0]), where k >= ptr[node] and k < ptr[node + 1]

    block is a power of two (the tree reduction drops elements otherwise)
    ptr must not decrease
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    n = score.shape[0]
    m = weight.shape[0]
    length = min(n, m)
    if block & block - 1:
        raise ValueError("edge_softmax: block must be a power of two")
    row = jnp.cumsum(jnp.bincount(ptr[: grid + 1], length=n)) - 1
    inside = (row >= 0) & (row < grid)
    exp = jnp.exp(jnp.where(inside, score, 0.0))
    total = jax.ops.segment_sum(exp, row, grid, indices_are_sorted=True)  # kernel.cu:13
    inside_2 = (row[:length] >= 0) & (row[:length] < grid)
    exp_2 = jnp.exp(jnp.where(inside_2, score[:length], 0.0))
    safe_total = jnp.where(inside_2, total[row[:length]], 1.0)
    return weight.at[:length].set(
        jnp.where(inside_2, exp_2 / safe_total, weight[:length])
    )  # kernel.cu:26


@partial(jax.jit, static_argnames="rows")
def spmv(ptr, col, a, x, y, rows):
    """y = A x, as many blocks as there happen to be

    y[row] = sum_(0 <= k < min(col.shape[0], a.shape[0]) where k - ptr[row] >= 0 and k <
        ptr[row + 1]) a[k] * x[col[k]]
        for 0 <= row < rows

    block is a power of two (the tree reduction drops elements otherwise)
    ptr must not decrease
    """
    n = col.shape[0]
    m = a.shape[0]
    length = min(n, m)
    row = jnp.cumsum(jnp.bincount(ptr[: rows + 1], length=length)) - 1
    inside = (row >= 0) & (row < rows)
    total = jax.ops.segment_sum(
        jnp.where(inside, a[:length], 0.0) * x[col[:length]],
        row,
        rows,
        indices_are_sorted=True,
    )  # kernel.cu:13
    return y.at[:rows].set(total)  # kernel.cu:36
