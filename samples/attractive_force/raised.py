"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def attractive_force(positions, masses, G, F):
    """Force between each pair of bodies; positions is (3, N).

    F[i, j] = Fx + Fy + Fz  for 0 <= i < N, 0 <= j < N
    """
    N = positions.shape[1]
    i_is_j = jnp.eye(N, dtype=bool)
    dx = positions[0, :, None] - positions[0]  # kernel.py:6
    dy = positions[1, :, None] - positions[1]
    dz = positions[2, :, None] - positions[2]
    # a body does not pull at itself
    inv_r2 = jnp.where(
        i_is_j, dx, 1.0 / jnp.where(i_is_j, 1, dx**2 + dy**2 + dz**2)
    )  # kernel.py:10
    product = G * masses[:N, None] * masses[:N] * inv_r2
    Fx = product * dx
    Fy = product * dy
    Fz = product * dz
    return F.at[:N, :N].set(Fx + Fy + Fz)  # kernel.py:14
