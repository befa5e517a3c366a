"""Stencils and the rims of their domains by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("nx", "ny"))
def diffuse(u, next, nx, ny, c):
    a = u.reshape(ny, nx)
    around = a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1]
    return a.at[1:-1, 1:-1].add(c * (around - 4.0 * a[1:-1, 1:-1])).ravel()


@partial(jax.jit, static_argnames="n")
def slope(u, du, n, h):
    step = jnp.diff(u[:n]) / h
    inner = 0.5 * (step[:-1] + step[1:])
    return du.at[:n].set(jnp.concatenate((step[:1], inner, step[-1:])))


@partial(jax.jit, static_argnames=("nx", "ny"))
def frame(u, nx, ny, hot):
    a = u.reshape(ny, nx)
    height = hot * jnp.arange(ny, dtype=a.dtype)
    a = a.at[:, 0].set(height).at[:, -1].set(height)
    return a.at[0].set(height[0]).at[-1].set(height[-1]).ravel()


@partial(jax.jit, static_argnames="n")
def around(u, wall, next, n):
    u = u[:n]
    inner = jnp.where(wall[1 : n - 1] != 0, u[1:-1], 0.5 * (u[:-2] + u[2:]))
    return next.at[:n].set(u.at[1:-1].set(inner))


@partial(jax.jit, static_argnames=("nx", "ny"))
def torus(u, next, nx, ny):
    a = u.reshape(ny, nx)
    sides = jnp.roll(a, 1, axis=1) + jnp.roll(a, -1, axis=1)
    return (0.25 * (sides + jnp.roll(a, 1, axis=0) + jnp.roll(a, -1, axis=0))).ravel()


def large(rng):
    u, new = rng.random((2, 700 * 800), "f")
    plate = {"u": u, "next": new, "nx": 800, "ny": 700}
    wall = rng.integers(0, 2, u.size).astype("int32")
    return {
        "diffuse": plate | {"c": 0.2},
        "slope": {"u": u, "du": new, "n": u.size, "h": 0.1},
        "frame": {"u": u, "nx": 800, "ny": 700, "hot": 2.5},
        "around": {"u": u, "wall": wall, "next": new, "n": u.size},
        "torus": plate,
    }
