"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)  # kernel.cu uses 64 bits


@partial(jax.jit, static_argnames="n")
def quaternion(q, n):
    """Unit quaternions; the zero quaternion becomes the identity.

    q[4 * i] = q[4 * i] * rsqrt(norm)  for 0 <= i < n, where norm > 1e-12
    q[4 * i + 1] = q.0[4 * i + 1] * rsqrt(norm)  for 0 <= i < n, where norm > 1e-12
    q[4 * i + 2] = q.0[4 * i + 2] * rsqrt(norm)  for 0 <= i < n, where norm > 1e-12
    q[4 * i + 3] = q.0[4 * i + 3] * rsqrt(norm)  for 0 <= i < n, where norm > 1e-12
    q[4 * i] = 1.0  for 0 <= i < n, where not norm > 1e-12
    q[4 * i + 1] = 0.0  for 0 <= i < n, where not norm > 1e-12
    q[4 * i + 2] = 0.0  for 0 <= i < n, where not norm > 1e-12
    q[4 * i + 3] = 0.0  for 0 <= i < n, where not norm > 1e-12
    """
    w = q[: 4 * n : 4]  # kernel.cu:5
    x = q[1 : 4 * n + 1 : 4]
    y = q[2 : 4 * n + 2 : 4]
    z = q[3 : 4 * n + 3 : 4]
    norm = w * w + x * x + y * y + z * z
    above = norm > 1e-12
    safe_norm = jnp.where(above, norm, 1.0)
    inv = jax.lax.rsqrt(safe_norm)  # kernel.cu:8
    q = q.at[: 4 * n : 4].multiply(jnp.where(above, inv, 1.0))  # kernel.cu:9
    q = q.at[1 : 4 * n + 1 : 4].set(
        jnp.where(above, x * inv, q[1 : 4 * n + 1 : 4])
    )  # kernel.cu:10
    q = q.at[2 : 4 * n + 2 : 4].set(
        jnp.where(above, y * inv, q[2 : 4 * n + 2 : 4])
    )  # kernel.cu:11
    q = q.at[3 : 4 * n + 3 : 4].set(
        jnp.where(above, z * inv, q[3 : 4 * n + 3 : 4])
    )  # kernel.cu:12
    q = q.at[: 4 * n : 4].set(jnp.where(~above, 1.0, q[: 4 * n : 4]))  # kernel.cu:14
    q = q.at[1 : 4 * n + 1 : 4].set(
        jnp.where(~above, 0.0, q[1 : 4 * n + 1 : 4])
    )  # kernel.cu:15
    q = q.at[2 : 4 * n + 2 : 4].set(
        jnp.where(~above, 0.0, q[2 : 4 * n + 2 : 4])
    )  # kernel.cu:16
    return q.at[3 : 4 * n + 3 : 4].set(
        jnp.where(~above, 0.0, q[3 : 4 * n + 3 : 4])
    )  # kernel.cu:17
