"""A product with a matrix of dense blocks by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="rows")
def multiply(starts, columns, blocks, x, y, rows):
    parts = jnp.einsum("kij,kj->ki", blocks.reshape(-1, 3, 3), x.reshape(-1, 3)[columns])
    row = jnp.repeat(jnp.arange(rows), jnp.diff(starts[: rows + 1]), total_repeat_length=columns.size)
    return y.at[: 3 * rows].set(jax.ops.segment_sum(parts, row, rows, indices_are_sorted=True).ravel())


def large(rng):
    import numpy as np

    rows = 5000
    starts = np.concatenate(([0], np.cumsum(rng.integers(0, 20, rows)))).astype("int32")
    count = starts[-1]
    x, y = rng.random((2, 3 * rows), "f")
    columns = rng.integers(0, rows, count).astype("int32")
    blocks = rng.random(9 * count, "f")
    return {"multiply": {"starts": starts, "columns": columns, "blocks": blocks, "x": x, "y": y, "rows": rows}}
