"""The extrema of windows and layers, and where, by hand."""

from functools import partial

import jax


@partial(jax.jit, static_argnames="size")
def pool_indices(image, pooled, place, size):
    h, w = pooled.shape
    tiles = image[: h * size, : w * size].reshape(h, size, w, size).swapaxes(1, 2).reshape(h, w, size * size)
    return tiles.max(axis=2), tiles.argmax(axis=2)


@jax.jit
def coldest_cell(field, low, row, column):
    cells = field.reshape(field.shape[0], -1)
    at = cells.shape[1] - 1 - cells[:, ::-1].argmin(axis=1)
    return cells.min(axis=1), at // field.shape[2], at % field.shape[2]


def large(rng):
    pool = {
        "image": rng.random((1200, 1500)),
        "pooled": rng.random((400, 500)),
        "place": rng.integers(0, 9, (400, 500)),
    }
    places = {name: rng.integers(0, 9, 1000) for name in ("row", "column")}
    cold = {"field": rng.random((1000, 30, 40)), "low": rng.random(1000)} | places
    return {"pool_indices": pool | {"size": 3}, "coldest_cell": cold}
