"""Reductions of blocks with two axes by hand."""

from functools import partial

import jax
import jax.numpy as jnp


def _blocks(field, width, height, grid, block, fill):
    (gx, gy), (bx, by) = grid, block
    rim = ((0, gy * by - height), (0, gx * bx - width))
    return jnp.pad(field.reshape(height, width), rim, constant_values=fill).reshape(gy, by, gx, bx)


@partial(jax.jit, static_argnames=("width", "height", "grid", "block"))
def energy_of_blocks(field, energy, width, height, *, grid, block):
    return (_blocks(field, width, height, grid, block, 0) ** 2).sum(axis=(1, 3)).ravel()


@partial(jax.jit, static_argnames=("width", "height", "grid", "block"))
def peak_of_tiles(field, peak, width, height, *, grid, block):
    return _blocks(field, width, height, grid, block, -jnp.inf).max(axis=(1, 3)).ravel()


def large(rng):
    field, out = rng.random(700 * 800, "f"), rng.random(8800, "f")
    sizes = {"field": field, "width": 798, "height": 700}
    sizes["field"] = field[: 798 * 700]
    launch = {"grid": (100, 88), "block": (8, 8), "shared": 64}
    return {
        "energy_of_blocks": sizes | {"energy": out} | launch,
        "peak_of_tiles": sizes | {"peak": out} | launch,
    }
