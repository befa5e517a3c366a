"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)  # kernel.cu uses 64 bits


@partial(jax.jit, static_argnames="m")
def bond_angle(e, x, a, b, c, m):
    """Angle potential of bonded triples; straight and collapsed ones have no angle force.

    e[t] = 0.0 if uu < 1e-12 or vv < 1e-12 else acos(-0.9999 if (0.9999 if cs > 0.9999 else cs) <
        -0.9999 else 0.9999 if cs > 0.9999 else cs)
        for 0 <= t < m
    """
    n = x.shape[0]
    x2 = x[: 2 * (n // 2)].reshape(n // 2, 2)
    x_row = x2[b[:m]]
    x_row_2 = x2[c[:m]]
    x_row_3 = x2[a[:m]]
    ux = x_row_3[:, 0] - x_row[:, 0]  # kernel.cu:5
    uy = x_row_3[:, 1] - x_row[:, 1]
    uu = ux * ux + uy * uy  # kernel.cu:7
    vx = x_row_2[:, 0] - x_row[:, 0]  # kernel.cu:6
    vy = x_row_2[:, 1] - x_row[:, 1]
    vv = vx * vx + vy * vy
    either = (uu < 1e-12) | (vv < 1e-12)
    cs = (ux * vx + uy * vy) / jnp.sqrt(jnp.where(either, 1.0, uu * vv))  # kernel.cu:12
    cs_2 = jnp.where(cs > 0.9999, 0.9999, cs)
    cs_3 = jnp.where(cs_2 < -0.9999, -0.9999, cs_2)
    safe_cs = jnp.where(either, 0.0, cs_3)
    return e.at[:m].set(jnp.where(either, 0.0, jnp.arccos(safe_cs)))  # kernel.cu:15
