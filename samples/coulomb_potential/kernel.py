"""Electrostatic potential at grid points, parallel over the points."""

import numpy as np
from numba import njit, prange


@njit(parallel=True, fastmath=True)
def coulomb_potential(grid_points, charges, charge_pos, phi):
    for p in prange(grid_points.shape[0]):
        total = 0.0
        for q in range(charges.shape[0]):
            dx = grid_points[p, 0] - charge_pos[q, 0]
            dy = grid_points[p, 1] - charge_pos[q, 1]
            dz = grid_points[p, 2] - charge_pos[q, 2]
            total += charges[q] / np.sqrt(dx * dx + dy * dy + dz * dz)
        phi[p] = total
    return phi
