"""One colour of a Gauss-Seidel sweep by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="count")
def coloured_sweep(nodes, count, ptr, col, val, diagonal, b, old, x):
    i, rows = nodes[:count], ptr.size - 1
    row = jnp.repeat(jnp.arange(rows), jnp.diff(ptr), total_repeat_length=col.size)
    total = jax.ops.segment_sum(val * old[col], row, rows, indices_are_sorted=True)
    return x.at[i].set((b[i] - total[i]) / diagonal[i], unique_indices=True)


def large(rng):
    import numpy as np

    n = 20_000
    ptr = np.concatenate(([0], np.cumsum(rng.integers(0, 20, n)))).astype("int32")
    vectors = dict(zip(("diagonal", "b", "old", "x"), 0.5 + rng.random((4, n), "f"), strict=True))
    entries = {"col": rng.integers(0, n, ptr[-1]).astype("int32"), "val": rng.random(ptr[-1], "f")}
    colour = {"nodes": rng.permutation(n)[: n // 2].astype("int32"), "count": n // 2, "ptr": ptr}
    return {"coloured_sweep": colour | entries | vectors}
