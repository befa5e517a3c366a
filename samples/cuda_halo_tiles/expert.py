"""Four stencils by hand, on flat arrays."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("ny", "nx"))
def smooth(u, v, rate, ny, nx):
    u = u.reshape(ny, nx)
    mid = u[1:-1, 1:-1]
    near = u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1]
    return v.reshape(ny, nx).at[1:-1, 1:-1].set(mid + rate * (near - 4 * mid)).ravel()


@partial(jax.jit, static_argnames=("ny", "nx"))
def sharpen(u, v, ny, nx):
    u = u.reshape(ny, nx)
    p = jnp.pad(u, 1)
    around = sum(p[i : i + ny, j : j + nx] for i in range(3) for j in range(3))
    return (10 * u - around).ravel()


@partial(jax.jit, static_argnames=("ny", "nx"))
def slope(u, v, ny, nx):
    u = u.reshape(ny, nx)
    gx = u[1:-1, 2:] - u[1:-1, :-2]
    gy = u[2:, 1:-1] - u[:-2, 1:-1]
    return v.reshape(ny, nx).at[1:-1, 1:-1].set(gx * gx + gy * gy).ravel()


@partial(jax.jit, static_argnames=("nz", "ny", "nx"))
def planes(u, v, nz, ny, nx):
    u = u.reshape(nz, ny, nx)
    flat = u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
    new = flat + u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] - 6 * u[1:-1, 1:-1, 1:-1]
    return v.reshape(nz, ny, nx).at[1:-1, 1:-1, 1:-1].set(new).ravel()


def large(rng):
    plane = {"u": rng.random(1_200_000, "f"), "v": rng.random(1_200_000, "f"), "ny": 1000, "nx": 1200}
    box = plane | {"nz": 30, "ny": 200, "nx": 200}
    return {"smooth": plane | {"rate": 0.1}, "sharpen": plane, "slope": plane, "planes": box}
