"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)  # kernel.cu uses 64 bits


@partial(jax.jit, static_argnames="n")
def quaternion(q, n):
    """Unit quaternions; the zero quaternion becomes the identity.

    q[4 * i] = q[4 * i] * inv if norm > 1e-12 else 1.0  for 0 <= i < n
    q[4 * i + 1] = q.0[4 * i + 1] * inv if norm > 1e-12 else 0.0  for 0 <= i < n
    q[4 * i + 2] = q.0[4 * i + 2] * inv if norm > 1e-12 else 0.0  for 0 <= i < n
    q[4 * i + 3] = q.0[4 * i + 3] * inv if norm > 1e-12 else 0.0  for 0 <= i < n
    """
    w = q[: 4 * n : 4]  # kernel.cu:5
    x = q[1 : 4 * n + 1 : 4]
    y = q[2 : 4 * n + 2 : 4]
    z = q[3 : 4 * n + 3 : 4]
    norm = w * w + x * x + y * y + z * z
    above = norm > 1e-12
    safe_norm = jnp.where(above, norm, 1.0)
    inv = jax.lax.rsqrt(safe_norm)  # kernel.cu:8
    return q.at[: 4 * n].set(
        jnp.stack(
            (
                jnp.where(above, w * inv, 1.0),
                jnp.where(above, x * inv, 0.0),
                jnp.where(above, y * inv, 0.0),
                jnp.where(above, z * inv, 0.0),
            ),
            axis=1,
        ).ravel()
    )  # kernel.cu:17
