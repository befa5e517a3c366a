"""Sparse rows in tables of one width by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("rows", "width"))
def rows_product(length, column, entry, x, y, rows, width):
    filled = jnp.arange(width) < length[:, None]
    entry, column = entry.reshape(rows, width), column.reshape(rows, width)
    terms = jnp.where(filled, entry, 0) * x[column]  # anything may lie behind a row's entries
    return jnp.where(filled, terms, 0).sum(axis=1)


@partial(jax.jit, static_argnames="rows")
def columns_product(length, column, entry, x, y, rows):
    filled = jnp.arange(entry.size // rows)[:, None] < length
    entry, column = entry.reshape(-1, rows), column.reshape(-1, rows)
    terms = jnp.where(filled, entry, 0) * x[column]
    return jnp.where(filled, terms, 0).sum(axis=0)


@partial(jax.jit, static_argnames=("rows", "width"))
def rows_largest(length, entry, most, end, rows, width):
    filled = jnp.arange(width) < length[:, None]
    return jnp.where(filled, entry.reshape(rows, width), -1e30).max(axis=1), length


def large(rng):
    rows, width = 20_000, 20
    length, column = (rng.integers(0, k, s).astype("int32") for k, s in ((width + 1, rows), (rows, rows * width)))
    entry, y = rng.random(rows * width, "f"), rng.random(rows, "f")
    table = {"length": length, "column": column, "entry": entry, "x": rng.random(rows, "f"), "y": y, "rows": rows}
    most = {"most": y, "end": 0 * length}
    return {
        "rows_product": table | {"width": width},
        "columns_product": table,
        "rows_largest": table | most | {"width": width},
    }
