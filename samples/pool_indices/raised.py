"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="size")
def pool_indices(image, pooled, place, size):
    """The largest pixel of each window, and where in the window it lies (the first, row by row).

    pooled[i, j] = max_(a, b)(image[i * size + a, j * size + b])
        for 0 <= i < pooled.shape[0], 0 <= j < pooled.shape[1]
    place[i, j] = argmax_a(max_b(image[i * size + a, j * size + b])) * size + argmax_b(image[i *
        size + argmax_a(max_b(image[i * size + a, j * size + b])), j * size + b]) if best > -inf
        else 0
        for 0 <= i < pooled.shape[0], 0 <= j < pooled.shape[1]
    """
    rows, cols = pooled.shape
    if 0 in pooled.shape:
        return pooled, place
    v = image[: rows * size, : cols * size].reshape(
        rows, size, cols, size
    )  # kernel.py:15
    best = jnp.max(
        jnp.transpose(v, (0, 2, 1, 3)).reshape(rows, cols, size * size), axis=2
    )  # kernel.py:13
    pooled = best.astype(pooled.dtype)  # kernel.py:19
    argmax = jnp.argmax(jnp.max(jnp.transpose(v, (0, 2, 1, 3)), axis=3), axis=2)
    i = jnp.arange(rows)
    j = jnp.arange(cols)
    b = jnp.arange(size)
    total = j[:, None] * size + b
    where = jnp.where(
        best > -jnp.inf,
        argmax * size
        + jnp.argmax(
            image.at[i[:, None, None] * size + argmax[:, :, None], total].get(
                mode="clip"
            ),
            axis=2,
        ),
        0,
    )  # kernel.py:13
    place = place.at[:rows, :cols].set(where.astype(place.dtype))  # kernel.py:20
    return pooled, place


@jax.jit
def coldest_cell(field, low, row, column):
    """The last of the lowest cells of each layer: later ones win ties.

    low[k] = min(field[k, 0, 0], min_(a, b)(field[k, a, b]))  for 0 <= k < field.shape[0]
    row[k] = last_argmin_a(min_b(field[k, a, b])) if min_(a, b)(field[k, a, b]) <= field[k, 0, 0] else 0
        for 0 <= k < field.shape[0]
    column[k] = last_argmin_b(field[k, last_argmin_a(min_b(field[k, a, b])), b]) if min_(a,
        b)(field[k, a, b]) <= field[k, 0, 0] else 0
        for 0 <= k < field.shape[0]
    """
    n0, n1, n2 = field.shape
    best = field[:, 0, 0]  # kernel.py:29
    smallest = field.min(axis=(1, 2))
    best_2 = jnp.minimum(best, smallest)  # kernel.py:32
    low = low.at[:n0].set(best_2)  # kernel.py:38
    below = smallest <= best
    argmin = n1 - 1 - jnp.argmin(jnp.flip(field.min(axis=2), axis=1), axis=1)
    r = jnp.where(below, argmin, 0)  # kernel.py:32
    row = row.at[:n0].set(r.astype(row.dtype))  # kernel.py:39
    k = jnp.arange(n0)
    b = jnp.arange(n2)
    c = jnp.where(
        below,
        n2
        - 1
        - jnp.argmin(
            jnp.flip(field.at[k[:, None], argmin[:, None], b].get(mode="clip"), axis=1),
            axis=1,
        ),
        0,
    )  # kernel.py:32
    column = column.at[:n0].set(c.astype(column.dtype))  # kernel.py:40
    return low, row, column
