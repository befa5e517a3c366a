"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def coulomb_self(phi, q, x):
    """Potential at each charge of all the others: the distance to itself is zero.

    phi[i] = sum_(j where i != j) q[j] / abs(x[i] - x[j])  for 0 <= i < x.shape[0]
    """
    n = x.shape[0]
    i_is_j = jnp.eye(n, dtype=bool)
    return phi.at[:n].set(
        jnp.sum(
            jnp.where(
                ~i_is_j, q[:n] / jnp.where(i_is_j, 1, jnp.abs(x[:, None] - x)), 0
            ),
            axis=1,
        )
    )  # kernel.py:16
