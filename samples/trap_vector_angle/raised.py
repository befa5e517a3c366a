"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def vector_angle(theta, u, v):
    """Angles between pairs of vectors: parallel, opposite, and of length zero.

    theta[i] = 0.0 if nu < 1e-06 or nv < 1e-06 or c > 0.999 else 3.141592653589793 if c < -0.999
        else acos(c)
        for 0 <= i < u.shape[0]
    """
    rows = u.shape[0]
    total = u[:, 0] * u[:, 0] + u[:, 1] * u[:, 1]
    nu = jnp.sqrt(total)  # kernel.py:11
    below = nu < 1e-06
    total_2 = v[:rows, 0] * v[:rows, 0] + v[:rows, 1] * v[:rows, 1]
    nv = jnp.sqrt(total_2)
    below_2 = nv < 1e-06
    total_3 = u[:, 0] * v[:rows, 0] + u[:, 1] * v[:rows, 1]
    c = total_3 / (nu * nv)  # kernel.py:16
    above = c > 0.999
    both = ~below & ~below_2 & ~above & ~(c < -0.999)
    nu_2 = jnp.sqrt(jnp.where(both, total, 1))  # kernel.py:11
    nv_2 = jnp.sqrt(jnp.where(both, total_2, 1))
    c_2 = total_3 / (nu_2 * nv_2)  # kernel.py:16
    safe_c = jnp.where(both, c_2, 0)
    return theta.at[:rows].set(
        jnp.where(
            below | below_2 | above,
            0.0,
            jnp.where(both, jnp.arccos(safe_c), 3.141592653589793),
        )
    )  # kernel.py:22
