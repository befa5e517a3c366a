"""Transpositions by hand."""

from functools import partial

import jax


@partial(jax.jit, static_argnames=("width", "height"))
def transpose_rows(out, in_, width, height):
    return in_.reshape(height, width).T.ravel()


transpose_whole = transpose_rows


def large(rng):
    x, out = rng.random((2, 800 * 1000), "f")
    matrix = {"out": out, "in_": x, "width": 1000, "height": 800}
    return {"transpose_rows": matrix, "transpose_whole": matrix | {"grid": (125, 100), "block": (8, 2)}}
