"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Electrostatic potential at grid points, parallel over the points.
"""

import jax
import jax.numpy as jnp


@jax.jit
def coulomb_potential(grid_points, charges, charge_pos, phi):
    """phi[p] = sum_q charges[q] / sqrt(dx * dx + dy * dy + dz * dz)  for 0 <= p < grid_points.shape[0]"""
    n = charges.shape[0]
    dx = grid_points[:, 0, None] - charge_pos[:n, 0]  # kernel.py:12
    dy = grid_points[:, 1, None] - charge_pos[:n, 1]
    dz = grid_points[:, 2, None] - charge_pos[:n, 2]
    return phi.at[: grid_points.shape[0]].set(
        jnp.sum(charges / jnp.sqrt(dx * dx + dy * dy + dz * dz), axis=1)
    )  # kernel.py:16
