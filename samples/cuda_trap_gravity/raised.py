"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

EPS = 1e-06


@partial(jax.jit, static_argnames="n")
def gravity(ax, ay, body, n):
    """Newton's gravity of bodies (x, y, z, mass); a body does not pull at itself, nor at one in the same place.

    ax[i] = sum_(j where j != i and not r2 < EPS) s * dx  for 0 <= i < n
    ay[i] = sum_(j where j != i and not r2 < EPS) s * dy  for 0 <= i < n
    """
    dx = body[:n, 0] - body[:n, 0, None]  # kernel.cu:10
    dy = body[:n, 1] - body[:n, 1, None]
    r2 = dx * dx + dy * dy
    both = ~jnp.eye(n, dtype=bool) & ~(r2 < EPS)
    safe_r2 = jnp.where(both, r2, 1.0)
    inv = jax.lax.rsqrt(safe_r2)  # kernel.cu:13
    s = body[:n, 3] * inv * inv * inv
    ax = ax.at[:n].set(jnp.sum(jnp.where(both, s * dx, 0.0), axis=1))  # kernel.cu:18
    ay = ay.at[:n].set(jnp.sum(jnp.where(both, s * dy, 0.0), axis=1))  # kernel.cu:19
    return ax, ay
