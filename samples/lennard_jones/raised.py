"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def lennard_jones(pos, force, energy, epsilon, sigma, cutoff):
    """Forces and energies of a Lennard-Jones fluid, truncated at ``cutoff``; all pairs.

    force[i, 0] = sum_(j where j != i and r2 < cutoff * cutoff) f * dx  for 0 <= i < n
    force[i, 1] = sum_(j where j != i and r2 < cutoff * cutoff) f * dy  for 0 <= i < n
    force[i, 2] = sum_(j where j != i and r2 < cutoff * cutoff) f * dz  for 0 <= i < n
    energy[i] = sum_(j where j != i and r2 < cutoff * cutoff) 2.0 * epsilon * s6 * (s6 - 1.0)
        for 0 <= i < n
    """
    n = pos.shape[0]
    dx = pos[:, 0, None] - pos[:, 0]  # kernel.py:17
    dy = pos[:, 1, None] - pos[:, 1]
    dz = pos[:, 2, None] - pos[:, 2]
    r2 = dx * dx + dy * dy + dz * dz
    both = ~jnp.eye(n, dtype=bool) & (r2 < cutoff * cutoff)
    safe_r2 = jnp.where(both, r2, 1)
    s2 = sigma * sigma / safe_r2  # kernel.py:22
    s6 = s2 * s2 * s2
    # derivative of the potential over r
    f = 24.0 * epsilon * s6 * (2.0 * s6 - 1.0) / safe_r2  # kernel.py:25
    force = force.at[:n, :3].set(
        jnp.stack(
            (
                jnp.sum(jnp.where(both, f * dx, 0), axis=1),
                jnp.sum(jnp.where(both, f * dy, 0), axis=1),
                jnp.sum(jnp.where(both, f * dz, 0), axis=1),
            ),
            axis=1,
        )
    )  # kernel.py:32
    energy = energy.at[:n].set(
        jnp.sum(jnp.where(both, 2.0 * epsilon * s6 * (s6 - 1.0), 0), axis=1)
    )  # kernel.py:33
    return force, energy
