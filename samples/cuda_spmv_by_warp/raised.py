"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)  # kernel.cu uses 64 bits


@partial(jax.jit, static_argnames="rows")
def spmv_by_warp(first, column, weight, x, y, rows):
    """A warp for each row of a sparse matrix: its lanes take every 32nd entry each, and add up what they have by shuffles.

    y[row] = sum_(0 <= k < min(column.shape[0], weight.shape[0]) where k - first[row] >= 0 and k <
        first[row + 1]) weight[k] * x[column[k]]
        for 0 <= row < rows

    block is a multiple of 32 (whole warps)
    first must not decrease
    """
    n = column.shape[0]
    m = weight.shape[0]
    length = min(n, m)
    row = jnp.cumsum(jnp.bincount(first[: rows + 1], length=length)) - 1
    inside = (row >= 0) & (row < rows)
    sum = jax.ops.segment_sum(
        jnp.where(inside, weight[:length], 0.0) * x[column[:length]],
        row,
        rows,
        indices_are_sorted=True,
    )  # kernel.cu:9
    return y.at[:rows].set(sum)  # kernel.cu:10


@partial(jax.jit, static_argnames=("rows", "channels"))
def normalised_rows(x, gain, bias, y, centre, rows, channels):
    """The same of dense rows: several warps a block, each with a row of its own that is no multiple of 32 long.

    centre[row] = (sum_lane_2 x[row, lane_2]) / channels  for 0 <= row < rows
    y[row, lane] = gain[lane] * (x[row, lane] - mean) * scale + bias[lane]
        for 0 <= row < rows, 0 <= lane < channels

    block is a multiple of 32 (whole warps)
    """
    x2 = x[: rows * channels].reshape(rows, channels)
    mean = x2.sum(axis=1) / channels  # kernel.cu:24
    centre = centre.at[:rows].set(mean)  # kernel.cu:29
    difference = x2 - mean[:, None]
    scale = jax.lax.rsqrt(
        jnp.sum(difference * difference, axis=1) / channels + 1e-05
    )  # kernel.cu:28
    y2 = gain[:channels] * difference * scale[:, None] + bias[:channels]  # kernel.cu:30
    y = y.at[: rows * channels].set(y2.ravel())
    return y, centre
