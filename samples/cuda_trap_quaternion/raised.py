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
    q2 = q[: 4 * n].reshape(n, 4)
    w = q2[:, 0]  # kernel.cu:5
    x = q2[:, 1]
    y = q2[:, 2]
    z = q2[:, 3]
    norm = w * w + x * x + y * y + z * z
    above = norm > 1e-12
    safe_norm = jnp.where(above, norm, 1.0)
    inv = jax.lax.rsqrt(safe_norm)  # kernel.cu:8
    beside = jnp.arange(4)
    q2 = jnp.where(
        above[:, None], q2 * inv[:, None], jnp.where(beside == 0, 1.0, 0.0)
    )  # kernel.cu:17
    return q.at[: 4 * n].set(q2.ravel())
