"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def nbody_tiles(position, mass, force, n):
    """the bodies pass through shared memory, a tile at a time

    force[t] = sum_k mass[k] * (position[k] - position[t]) / ((position[k] - position[t]) *
        (position[k] - position[t]) + 1.0)
        for 0 <= t < n
    """
    mass = mass.astype(jnp.result_type(mass, jnp.float32))
    difference = position[:n] - position[:n, None]
    return force.at[:n].set(
        jnp.sum(mass[:n] * difference / (difference * difference + 1.0), axis=1)
    )  # kernel.py:27
