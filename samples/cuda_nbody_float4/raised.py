"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

SOFTENING = 0.001


@partial(jax.jit, static_argnames="n")
def accelerations(pos, acc, n):
    """accelerations; the mass of a body is the fourth component of its position

    acc[i, 0] = sum_j (pos[j, 0] - pos[i, 0]) * pos[j, 3] * inv * inv * inv  for 0 <= i < n
    acc[i, 1] = sum_j (pos[j, 1] - pos[i, 1]) * pos[j, 3] * inv * inv * inv  for 0 <= i < n
    acc[i, 2] = sum_j (pos[j, 2] - pos[i, 2]) * pos[j, 3] * inv * inv * inv  for 0 <= i < n
    """
    r_x = pos[:n, 0] - pos[:n, 0, None]  # kernel.cu:5
    r_y = pos[:n, 1] - pos[:n, 1, None]
    r_z = pos[:n, 2] - pos[:n, 2, None]
    dist2 = r_x * r_x + r_y * r_y + r_z * r_z + SOFTENING
    inv = jax.lax.rsqrt(dist2)
    s = pos[:n, 3] * inv * inv * inv
    return acc.at[:n, :3].set(
        jnp.stack(
            (
                jnp.sum(r_x * s, axis=1),
                jnp.sum(r_y * s, axis=1),
                jnp.sum(r_z * s, axis=1),
            ),
            axis=1,
        )
    )  # kernel.cu:24
