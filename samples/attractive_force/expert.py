"""Hand-written twin of attractive_force."""

import jax
import jax.numpy as jnp


@jax.jit
def attractive_force(positions, masses, G, F):
    """Force between each pair of bodies; positions is (3, N)."""
    N = positions.shape[1]
    same = jnp.eye(N, dtype=bool)
    dx = positions[0, :, None] - positions[0, None, :]
    dy = positions[1, :, None] - positions[1, None, :]
    dz = positions[2, :, None] - positions[2, None, :]
    # a body does not pull at itself
    r2 = jnp.where(same, 1.0, dx**2 + dy**2 + dz**2)
    inv_r2 = jnp.where(same, dx, 1.0 / r2)
    scale = G * masses[:, None] * masses[None, :] * inv_r2
    return F.at[:N, :N].set(scale * dx + scale * dy + scale * dz)
