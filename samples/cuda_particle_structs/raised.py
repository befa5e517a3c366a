"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="count")
def move(particles, box, dt, count):
    """moves the living particles; walls reflect

    particles.x[i] = min(max(particles.x[i] + particles.vx[i] * dt, 0.0), box.width) if
        particles.x[i] + particles.vx[i] * dt < 0.0 or particles.x[i] + particles.vx[i] * dt >
        box.width else particles.x[i] + particles.vx[i] * dt
        for 0 <= i < count, where particles.alive[i] != 0
    particles.y[i] = min(max(particles.y[i] + particles.vy[i] * dt, 0.0), box.height) if
        particles.y[i] + particles.vy[i] * dt < 0.0 or particles.y[i] + particles.vy[i] * dt >
        box.height else particles.y[i] + particles.vy[i] * dt
        for 0 <= i < count, where particles.alive[i] != 0
    particles.vx[i] = -particles.vx[i] * box.damping if particles.x.0[i] + particles.vx[i] * dt <
        0.0 or particles.x.0[i] + particles.vx[i] * dt > box.width else particles.vx[i]
        for 0 <= i < count, where particles.alive[i] != 0
    particles.vy[i] = -particles.vy[i] * box.damping if particles.y.0[i] + particles.vy[i] * dt <
        0.0 or particles.y.0[i] + particles.vy[i] * dt > box.height else particles.vy[i]
        for 0 <= i < count, where particles.alive[i] != 0
    """
    unequal = particles.alive[:count] != 0
    safe_p_vx = jnp.where(unequal, particles.vx[:count], 0.0)
    p_x = particles.x[:count] + safe_p_vx * dt  # kernel.cu:18
    either = (p_x < 0.0) | (p_x > box.width)
    p_x_2 = jnp.minimum(jnp.maximum(p_x, 0.0), box.width)  # kernel.cu:22
    p_x_3 = jnp.where(either, p_x_2, p_x)
    x = particles.x.at[:count].set(
        jnp.where(unequal, p_x_3, particles.x[:count])
    )  # kernel.cu:28
    safe_p_vy = jnp.where(unequal, particles.vy[:count], 0.0)
    p_y = particles.y[:count] + safe_p_vy * dt  # kernel.cu:19
    either_2 = (p_y < 0.0) | (p_y > box.height)
    p_y_2 = jnp.minimum(jnp.maximum(p_y, 0.0), box.height)  # kernel.cu:26
    p_y_3 = jnp.where(either_2, p_y_2, p_y)
    y = particles.y.at[:count].set(
        jnp.where(unequal, p_y_3, particles.y[:count])
    )  # kernel.cu:28
    p_vx = -safe_p_vx * box.damping  # kernel.cu:21
    p_vx_2 = jnp.where(either, p_vx, safe_p_vx)
    vx = particles.vx.at[:count].set(
        jnp.where(unequal, p_vx_2, particles.vx[:count])
    )  # kernel.cu:28
    p_vy = -safe_p_vy * box.damping  # kernel.cu:25
    p_vy_2 = jnp.where(either_2, p_vy, safe_p_vy)
    vy = particles.vy.at[:count].set(
        jnp.where(unequal, p_vy_2, particles.vy[:count])
    )  # kernel.cu:28
    return particles._replace(x=x, y=y, vx=vx, vy=vy)
