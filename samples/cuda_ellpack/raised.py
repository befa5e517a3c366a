"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("rows", "width"))
def rows_product(length, column, entry, x, y, rows, width):
    """y[r] = sum_(k where k < length[r]) entry[r, k] * x[column[r, k]]  for 0 <= r < rows

    length[r] <= width for all r
    """
    k = jnp.arange(width)
    below = k < length[:rows, None]
    entry2 = entry[: rows * width].reshape(rows, width)
    column2 = column[: rows * width].reshape(rows, width)
    return y.at[:rows].set(
        jnp.sum(
            jnp.where(
                below,
                jnp.where(below, entry2, 0.0) * x.at[column2].get(mode="clip"),
                0.0,
            ),
            axis=1,
        )
    )  # kernel.cu:9


@partial(jax.jit, static_argnames="rows")
def columns_product(length, column, entry, x, y, rows):
    """y[r] = sum_(0 <= k < column.shape[0] // rows where k < length[r]) entry[k, r] * x[column[k, r]]
        for 0 <= r < rows

    length[r] <= column.shape[0] // rows for all r
    """
    n = column.shape[0]
    k = jnp.arange(n // rows)
    below = k[:, None] < length[:rows]
    entry2 = entry[: n // rows * rows].reshape(n // rows, rows)
    column2 = column[: n // rows * rows].reshape(n // rows, rows)
    return y.at[:rows].set(
        jnp.sum(
            jnp.where(
                below,
                jnp.where(below, entry2, 0.0) * x.at[column2].get(mode="clip"),
                0.0,
            ),
            axis=0,
        )
    )  # kernel.cu:22


@partial(jax.jit, static_argnames=("rows", "width"))
def rows_largest(length, entry, most, end, rows, width):
    """the largest entry of each row, and the place after the last

    most[r] = max(-1e+30, max_(k where k < length[r])(entry[r, k]))  for 0 <= r < rows
    end[r] = max(0, length[r])  for 0 <= r < rows

    length[r] <= width for all r
    """
    k = jnp.arange(width)
    entry2 = entry[: rows * width].reshape(rows, width)
    m = (
        jnp.maximum(
            -1e30, jnp.max(jnp.where(k < length[:rows, None], entry2, -jnp.inf), axis=1)
        )
        if width > 0
        else jnp.full(rows, -1e30)
    )  # kernel.cu:31
    most = most.at[:rows].set(m)  # kernel.cu:32
    end = end.at[:rows].set(jnp.maximum(0, length[:rows]))  # kernel.cu:33
    return most, end
