"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("ny", "nx"))
def smooth(u, v, rate, ny, nx):
    """v[y, x] = u[y, x] + rate * (u[y, x - 1] + u[y, x + 1] + u[y - 1, x] + u[y + 1, x] - 4.0 * u[y, x])
        for 1 <= x < nx - 1, 1 <= y < ny - 1

    a block has 8 threads along x
    a block has 8 threads along y
    """
    u2 = u[: ny * nx].reshape(ny, nx)
    v2 = v[: ny * nx].reshape(ny, nx)
    v2 = v2.at[1:-1, 1:-1].set(
        u2[1:-1, 1:-1]
        + rate
        * (
            u2[1:-1, :-2]
            + u2[1:-1, 2:]
            + u2[:-2, 1:-1]
            + u2[2:, 1:-1]
            - 4.0 * u2[1:-1, 1:-1]
        )
    )  # kernel.cu:19
    return v.at[: ny * nx].set(v2.ravel())


@partial(jax.jit, static_argnames=("ny", "nx"))
def sharpen(u, v, ny, nx):
    """v[y, x] = 10.0 * u[y, x] - sum_(0 <= i < 3, 0 <= j < 3 where i + y - 1 >= 0 and i + y - 1 < ny
        and j + x - 1 >= 0 and j + x - 1 < nx) u[i + y - 1, j + x - 1]
        for 0 <= x < nx, 0 <= y < ny

    a block has 8 threads along x
    a block has 8 threads along y
    """
    u2 = u[: ny * nx].reshape(ny, nx)
    u_padded = jnp.pad(u2, 1)
    v2 = 10.0 * u2 - (
        u_padded[:-2, :-2]
        + u_padded[:-2, 1:-1]
        + u_padded[:-2, 2:]
        + u_padded[1:-1, :-2]
        + u_padded[1:-1, 1:-1]
        + u_padded[1:-1, 2:]
        + u_padded[2:, :-2]
        + u_padded[2:, 1:-1]
        + u_padded[2:, 2:]
    )  # kernel.cu:36
    return v.at[: ny * nx].set(v2.ravel())


@partial(jax.jit, static_argnames=("ny", "nx"))
def slope(u, v, ny, nx):
    """v[y, x] = gx * gx + gy * gy  for 1 <= x < nx - 1, 1 <= y < ny - 1

    a block has 8 threads along x
    a block has 8 threads along y
    """
    u2 = u[: ny * nx].reshape(ny, nx)
    gx = u2[1:-1, 2:] - u2[1:-1, :-2]  # kernel.cu:46
    gy = u2[2:, 1:-1] - u2[:-2, 1:-1]
    v2 = v[: ny * nx].reshape(ny, nx)
    v2 = v2.at[1:-1, 1:-1].set(gx * gx + gy * gy)  # kernel.cu:48
    return v.at[: ny * nx].set(v2.ravel())


@partial(jax.jit, static_argnames=("nz", "ny", "nx"))
def planes(u, v, nz, ny, nx):
    """v[z, y, x] = u[z, y, x - 1] + u[z, y, x + 1] + u[z, y - 1, x] + u[z, y + 1, x] + u[z - 1, y, x]
        + u[z + 1, y, x] - 6.0 * u[z, y, x]
        for 1 <= x < nx - 1, 1 <= y < ny - 1, 1 <= z < nz - 1

    a block has 8 threads along x
    a block has 8 threads along y
    """
    u3 = u[: nz * ny * nx].reshape(nz, ny, nx)
    v3 = v[: nz * ny * nx].reshape(nz, ny, nx)
    v3 = v3.at[1:-1, 1:-1, 1:-1].set(
        u3[1:-1, 1:-1, :-2]
        + u3[1:-1, 1:-1, 2:]
        + u3[1:-1, :-2, 1:-1]
        + u3[1:-1, 2:, 1:-1]
        + u3[:-2, 1:-1, 1:-1]
        + u3[2:, 1:-1, 1:-1]
        - 6.0 * u3[1:-1, 1:-1, 1:-1]
    )  # kernel.cu:67
    return v.at[: nz * ny * nx].set(v3.ravel())
