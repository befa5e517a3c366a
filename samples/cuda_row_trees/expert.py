"""Means of rows, weighted inputs and filtered rows by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("rows", "cols"))
def row_means(x, mean, rows, cols):
    return x.reshape(rows, cols).mean(axis=1)


@jax.jit
def layer(input, weight, sums):
    return jnp.einsum("bt,btx->bx", input.reshape(-1, 16), weight.reshape(-1, 16, 16)).ravel()


@partial(jax.jit, static_argnames=("pitch",))
def filtered_rows(x, weight, y, width, pitch):
    """A row may be wider than what counts of it: only the cells to the right of a block are then taken for zeros, and a
    block's own cells count whatever the width is, so the tiles of 32 are there."""
    tiles = x.reshape(-1, pitch // 32, 32)
    counted = jnp.where(jnp.arange(pitch).reshape(-1, 32) < width, tiles, 0.0)
    left = jnp.pad(tiles[:, :-1, -3:], ((0, 0), (1, 0), (0, 0)))
    right = jnp.pad(counted[:, 1:, :3], ((0, 0), (0, 1), (0, 0)))
    padded = jnp.concatenate((left, tiles, right), axis=2)
    return sum(weight[6 - j] * padded[:, :, j : j + 32] for j in range(7)).ravel()


def large(rng):
    x, y = rng.random((2, 1 << 19), "f")
    blocks = x.size // 256
    image = {"x": x, "weight": y[:7], "y": y, "width": 1024, "pitch": 1024}
    return {
        "row_means": {"x": x[:500_000], "mean": y[:500], "rows": 500, "cols": 1000},
        "layer": {"input": y[: 16 * blocks], "weight": x, "sums": y[: 16 * blocks]}
        | {"grid": (1, blocks), "block": (16, 16)},
        "filtered_rows": image | {"grid": (32, 256), "block": (8, 2)},
    }
