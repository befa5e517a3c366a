"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("nx", "ny"))
def diffuse(u, next, nx, ny, c):
    """next[y, x] = u[y, x]  for 0 <= x < nx, 0 <= y < ny
    next[y, x] = u[y, x] + c * (u[y, x - 1] + u[y, x + 1] + u[y - 1, x] + u[y + 1, x] - 4.0 * u[y, x])
        for 1 <= x < nx - 1, 1 <= y < ny - 1
    """
    u2 = u[: ny * nx].reshape(ny, nx)
    next2 = u2.at[1:-1, 1:-1].add(
        c
        * (
            u2[1:-1, :-2]
            + u2[1:-1, 2:]
            + u2[:-2, 1:-1]
            + u2[2:, 1:-1]
            - 4.0 * u2[1:-1, 1:-1]
        )
    )  # kernel.cu:11
    return next.at[: ny * nx].set(next2.ravel())


@partial(jax.jit, static_argnames="n")
def slope(u, du, n, h):
    """du[0] = (u[1] - u[0]) / h  where n >= 1
    du[n - 1] = (u[n - 1] - u[n - 2]) / h  where n >= 2
    du[i] = (u[i + 1] - u[i - 1]) / (2.0 * h)  for 1 <= i < n - 1
    """
    if n < 1:
        return du
    d = (u[1] - u[0]) / h  # kernel.cu:19
    d_2 = (u[2:n] - u[: max(n - 2, 0)]) / (2.0 * h)  # kernel.cu:23
    return du.at[:n].set(
        jnp.concatenate((d[None], d_2, ((u[n - 1] - u[n - 2]) / h)[None]))
        if n >= 2
        else d[None]
    )  # kernel.cu:24


@partial(jax.jit, static_argnames=("nx", "ny"))
def frame(u, nx, ny, hot):
    """u[y, 0] = hot * y  for 0 <= y < ny, where nx >= 1
    u[y, nx - 1] = hot * y  for 0 <= y < ny, where nx >= 1
    u[0, x] = hot * 0  for 0 <= x < nx, where ny >= 1
    u[ny - 1, x] = hot * (ny - 1)  for 0 <= x < nx, where ny >= 1
    """
    if min(nx, ny) < 1:
        return u
    u_new = hot * jnp.arange(ny, dtype=jnp.float32)
    u2 = u[: ny * nx].reshape(ny, nx)
    u2 = u2.at[:, 0].set(u_new)  # kernel.cu:31
    u2 = u2.at[:, -1].set(u_new)  # kernel.cu:31
    u2 = u2.at[0].set(hot * 0.0)  # kernel.cu:31
    u2 = u2.at[-1].set(hot * jnp.asarray(ny - 1, jnp.float32))  # kernel.cu:31
    return u.at[: ny * nx].set(u2.ravel())


@partial(jax.jit, static_argnames="n")
def around(u, wall, next, n):
    """next[i] = u[i]  for 0 <= i < n
    next[i] = 0.5 * (u[i - 1] + u[i + 1]) if wall[i] == 0 else u[i]  for 1 <= i < n - 1
    """
    if n < 1:
        return next
    next = next.at[:n].set(u[:n])  # kernel.cu:41
    return next.at[1 : n - 1].set(
        jnp.where(
            wall[1 : n - 1] == 0, 0.5 * (u[: max(n - 2, 0)] + u[2:n]), u[1 : n - 1]
        )
    )  # kernel.cu:41


@partial(jax.jit, static_argnames=("nx", "ny"))
def torus(u, next, nx, ny):
    """
    next[y, x] = 0.25 * (u[y, (x + nx - 1) % nx] + u[y, (x + 1) % nx] + u[(y + ny - 1) % ny, x] +
        u[(y + 1) % ny, x])
        for 0 <= x < nx, 0 <= y < ny
    """
    u2 = u[: ny * nx].reshape(ny, nx)
    next2 = 0.25 * (
        jnp.roll(u2, 1, axis=1)
        + jnp.roll(u2, -1, axis=1)
        + jnp.roll(u2, 1, axis=0)
        + jnp.roll(u2, -1, axis=0)
    )  # kernel.cu:50
    return next.at[: ny * nx].set(next2.ravel())
