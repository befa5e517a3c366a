"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def ray_sphere(t, ox, oy, dx, dy, radius):
    """Distance along each ray to a circle about the origin, -1 for those that miss it.

    t[i] = -1.0 if disc < 0.0 else near if near > 0.0 else far if far > 0.0 else -1.0
        for 0 <= i < t.shape[0]
    """
    n = t.shape[0]
    b = ox[:n] * dx[:n] + oy[:n] * dy[:n]  # kernel.py:11
    c = ox[:n] * ox[:n] + oy[:n] * oy[:n] - radius * radius
    disc = b * b - c * (dx[:n] * dx[:n] + dy[:n] * dy[:n])
    below = disc <= 0
    root = jnp.where(below, 0.0, jnp.sqrt(jnp.where(below, 1, disc)))  # kernel.py:17
    near = -b - root
    far = -b + root
    return jnp.where(
        disc < 0.0, -1.0, jnp.where(near > 0.0, near, jnp.where(far > 0.0, far, -1.0))
    ).astype(t.dtype)  # kernel.py:20
