"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)  # kernel.cu uses 64 bits


@partial(jax.jit, static_argnames="n")
def normalized(u, w, x, eps, most, n):
    """Rows of length one, but for those that are too short, and a weight that a close pair does not exceed.

    u[3 * i] = x[3 * i] * 1.0 / max(norm, eps)  for 0 <= i < n
    u[3 * i + 1] = x[3 * i + 1] * 1.0 / max(norm, eps)  for 0 <= i < n
    u[3 * i + 2] = x[3 * i + 2] * 1.0 / max(norm, eps)  for 0 <= i < n
    w[i] = min(1.0 / norm, most) + max(log(norm), -4.0)  for 0 <= i < n
    """
    x2 = x[: 3 * n].reshape(n, 3)
    a = x2[:, 0]  # kernel.cu:5
    b = x2[:, 1]
    c = x2[:, 2]
    total = a * a + b * b + c * c
    equal = total == 0.0
    norm = jnp.where(equal, 0.0, jnp.sqrt(jnp.where(equal, 1.0, total)))
    scale = 1.0 / jnp.maximum(norm, eps)
    u2 = x2 * scale[:, None]  # kernel.cu:10
    equal_2 = norm == 0.0
    choice = jnp.where(equal_2, 1.0, norm)
    w = w.at[:n].set(
        jnp.minimum(jnp.where(equal_2, jnp.inf, 1.0 / choice), most)
        + jnp.maximum(jnp.where(equal_2, -jnp.inf, jnp.log(choice)), -4.0)
    )  # kernel.cu:11
    u = u.at[: 3 * n].set(u2.ravel())
    return u, w
