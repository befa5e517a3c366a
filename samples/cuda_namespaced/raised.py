"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

Z = 2
kGravity = 9.81


@partial(jax.jit, static_argnames="bodies")
def fall(position, velocity, drag, dt, bodies):
    """falls with drag; velocities and positions are interleaved by axis

    velocity[b, axis] += dt * a  for 0 <= b < bodies, 0 <= axis < 3
    position[b, axis] += dt * (velocity.0[b, axis] + dt * a)  for 0 <= b < bodies, 0 <= axis < 3
    """
    velocity2 = velocity[: 3 * bodies].reshape(bodies, 3)
    axis = jnp.arange(3)
    a = jnp.where(axis == Z, -kGravity, 0.0) - drag * velocity2 * jnp.abs(
        velocity2
    )  # kernel.cu:13
    velocity_new = velocity2 + dt * a
    velocity2_2 = velocity_new  # kernel.cu:14
    position2 = position[: 3 * bodies].reshape(bodies, 3)
    position2 = position2 + dt * velocity_new  # kernel.cu:15
    position = position.at[: 3 * bodies].set(position2.ravel())
    velocity_2 = velocity.at[: 3 * bodies].set(velocity2_2.ravel())
    return position, velocity_2
