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
    x_at = x[2 * b[:m]]
    ux = x[2 * a[:m]] - x_at  # kernel.cu:5
    x_at_2 = x[2 * b[:m] + 1]
    uy = x[2 * a[:m] + 1] - x_at_2
    uu = ux * ux + uy * uy  # kernel.cu:7
    below = uu < 1e-12
    vx = x[2 * c[:m]] - x_at  # kernel.cu:6
    vy = x[2 * c[:m] + 1] - x_at_2
    vv = vx * vx + vy * vy
    below_2 = vv < 1e-12
    either = below | below_2
    total = ux * vx + uy * vy
    cs = total / jnp.sqrt(uu * vv)  # kernel.cu:12
    above = cs > 0.9999
    cs_2 = jnp.where(above, 0.9999, cs)
    below_3 = cs_2 < -0.9999
    cs_3 = total / jnp.sqrt(
        jnp.where(~below & ~below_2 & ~below_3 & ~above, uu * vv, 1.0)
    )
    cs_4 = jnp.where(above, 0.9999, cs_3)
    cs_5 = jnp.where(below_3, -0.9999, cs_4)
    safe_cs = jnp.where(either, 0.0, cs_5)
    return e.at[:m].set(jnp.where(either, 0.0, jnp.arccos(safe_cs)))  # kernel.cu:15
