"""A softmax over edges and a sparse product by hand."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


def _rows(ptr, length):
    return jnp.repeat(jnp.arange(ptr.size - 1), jnp.diff(ptr), total_repeat_length=length)


@jax.jit
def edge_softmax(ptr, score, weight):
    node = _rows(ptr, score.size)
    e = jnp.exp(score)
    return e / jax.ops.segment_sum(e, node, ptr.size - 1, indices_are_sorted=True)[node]


@partial(jax.jit, static_argnames="rows")
def spmv(ptr, col, a, x, y, rows):
    row = _rows(ptr[: rows + 1], a.size)
    return y.at[:rows].set(jax.ops.segment_sum(a * x[col], row, rows, indices_are_sorted=True))


def large(rng):
    n = 20_000
    ptr = np.concatenate(([0], np.cumsum(rng.integers(0, 30, n)))).astype("int32")
    a, weight = rng.random((2, ptr[-1]), "f")
    col, (x, y) = rng.integers(0, n, ptr[-1]).astype("int32"), rng.random((2, n), "f")
    return {
        "edge_softmax": {"ptr": ptr, "score": a, "weight": weight, "grid": n, "block": 64},
        "spmv": {"ptr": ptr, "col": col, "a": a, "x": x, "y": y, "rows": n},
    }
