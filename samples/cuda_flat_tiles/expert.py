"""Stencils with zeros or the rim's values outside, by hand."""

from functools import partial

import jax
import jax.numpy as jnp


def _cross(u, v, ny, nx, reach):
    a = u.reshape(ny, nx)
    p = jnp.pad(a, reach)
    inside = slice(reach, -reach)
    around = p[inside, : -2 * reach] + p[inside, 2 * reach :] + p[: -2 * reach, inside] + p[2 * reach :, inside]
    return (around - 4.0 * a).ravel()


@partial(jax.jit, static_argnames=("ny", "nx"))
def laplace(u, v, ny, nx):
    return _cross(u, v, ny, nx, 1)


@partial(jax.jit, static_argnames=("ny", "nx"))
def wide_cross(u, v, ny, nx):
    return _cross(u, v, ny, nx, 2)


@partial(jax.jit, static_argnames=("ny", "nx"))
def gradient(u, v, ny, nx):
    p = jnp.pad(u.reshape(ny, nx), ((1, 0), (1, 0)), mode="edge")
    across, down = p[1:, 1:] - p[1:, :-1], p[1:, 1:] - p[:-1, 1:]
    return (across * across + down * down).ravel()


@partial(jax.jit, static_argnames=("ny", "nx"))
def blur(u, v, ny, nx):
    p = jnp.pad(u.reshape(ny, nx), 1)
    rows = p[:-2] + p[1:-1] + p[2:]
    return ((rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]) / 9.0).ravel()


def large(rng):
    u, v = rng.random((2, 800 * 1000), "f")
    field = {"u": u, "v": v, "ny": 800, "nx": 1000}
    eights = {"grid": (125, 100), "block": (8, 8)}
    return {
        "laplace": field | eights,
        "wide_cross": field | eights,
        "gradient": field | {"grid": (125, 100), "block": (9, 9)},
        "blur": field | eights,
    }
