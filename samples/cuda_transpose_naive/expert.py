"""A transposition by hand."""

from functools import partial

import jax


@partial(jax.jit, static_argnames=("cols", "rows"))
def transpose_naive(out, in_, cols, rows):
    return in_.reshape(rows, cols).T.ravel()


def large(rng):
    x, out = rng.random((2, 800 * 1000), "f")
    return {"transpose_naive": {"out": out, "in_": x, "cols": 1000, "rows": 800}}
