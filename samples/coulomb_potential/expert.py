"""The potential of charges by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def coulomb_potential(grid_points, charges, charge_pos, phi):
    dx, dy, dz = (grid_points[:, None, d] - charge_pos[:, d] for d in range(3))
    return (charges / jnp.sqrt(dx * dx + dy * dy + dz * dz)).sum(axis=1)


def large(rng):
    points = {"grid_points": rng.random((2000, 3)), "charge_pos": 1.5 + rng.random((500, 3))}
    return {"coulomb_potential": points | {"charges": rng.random(500), "phi": rng.random(2000)}}
