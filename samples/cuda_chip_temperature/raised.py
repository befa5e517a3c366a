"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

AMBIENT = 80.0


@partial(jax.jit, static_argnames=("rows", "cols"))
def chip_temperature(temp, power, result, rows, cols, cap, rx, ry, rz):
    """temperature of a chip after one step; the edges have no neighbour and take their own value

    result[r, c] = temp[r, c] + cap * (power[r, c] + (temp[min(r + 1, rows - 1), c] +
        temp[max(r - 1, 0), c] - 2.0 * temp[r, c]) * ry + (temp[r, min(c + 1, cols - 1)] +
        temp[r, max(c - 1, 0)] - 2.0 * temp[r, c]) * rx + (AMBIENT - temp[r, c]) * rz)
        for 0 <= c < cols, 0 <= r < rows
    """
    if min(rows, cols) < 1:
        return result
    temp2 = temp[: rows * cols].reshape(rows, cols)
    power2 = power[: rows * cols].reshape(rows, cols)
    temp_padded = jnp.pad(temp2, 1, mode="edge")
    result2 = temp2 + cap * (
        power2
        + (temp_padded[2:, 1:-1] + temp_padded[:-2, 1:-1] - 2.0 * temp2) * ry
        + (temp_padded[1:-1, 2:] + temp_padded[1:-1, :-2] - 2.0 * temp2) * rx
        + (AMBIENT - temp2) * rz
    )  # kernel.cu:16
    return result.at[: rows * cols].set(result2.ravel())
