"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

AMBIENT = 80.0


@partial(jax.jit, static_argnames=("rows", "cols"))
def chip_temperature(temp, power, result, rows, cols, cap, rx, ry, rz):
    """temperature of a chip after one step; the edges have no neighbour and take their own value

    result[r, c] = temp[r, c] + cap * (power[r, c] + (temp[S * cols + c] + temp[N * cols + c] - 2.0
        * temp[r, c]) * ry + (temp[r * cols + E] + temp[r * cols + W] - 2.0 * temp[r, c]) * rx +
        (AMBIENT - temp[r, c]) * rz)
        for 0 <= c < cols, 0 <= r < rows
    """
    temp2 = temp[: rows * cols].reshape(rows, cols)
    power2 = power[: rows * cols].reshape(rows, cols)
    r = jnp.arange(rows)
    S = jnp.where(r == rows - 1, rows - 1, r + 1)  # kernel.cu:11
    c = jnp.arange(cols)
    N = jnp.where(r == 0, 0, r - 1)  # kernel.cu:10
    E = jnp.where(c == cols - 1, cols - 1, c + 1)  # kernel.cu:13
    W = jnp.where(c == 0, 0, c - 1)  # kernel.cu:12
    result2 = temp2 + cap * (
        power2
        + (
            temp[S[:, None] * cols + c.astype(jnp.int32)]
            + temp[N[:, None] * cols + c.astype(jnp.int32)]
            - 2.0 * temp2
        )
        * ry
        + (temp[r[:, None] * cols + E] + temp[r[:, None] * cols + W] - 2.0 * temp2) * rx
        + (AMBIENT - temp2) * rz
    )  # kernel.cu:16
    return result.at[: rows * cols].set(result2.ravel())
