"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="count")
def bounce(balls, world, dt, energy, count):
    """one time step of bouncing balls, and the energy of each after it

    balls.height[i] = -(balls.height[i] + (balls.speed[i] - world.gravity * dt) * dt) *
        world.restitution if balls.height[i] + (balls.speed[i] - world.gravity * dt) * dt < 0.0 else
        balls.height[i] + (balls.speed[i] - world.gravity * dt) * dt
        for 0 <= i < count
    balls.speed[i] = -(balls.speed[i] - world.gravity * dt) * world.restitution if balls.height.0[i]
        + (balls.speed[i] - world.gravity * dt) * dt < 0.0 else balls.speed[i] - world.gravity * dt
        for 0 <= i < count
    balls.bounces[i] += 1
        for 0 <= i < count, where balls.height.0[i] + (balls.speed.0[i] - world.gravity * dt) * dt < 0.0
    energy[i] = 0.5 * b_speed * b_speed + world.gravity * b_height  for 0 <= i < count
    """
    b_speed = balls.speed[:count] - world.gravity * dt  # kernel.cu:17
    b_height = balls.height[:count] + b_speed * dt
    below = b_height < 0.0
    b_height_2 = -b_height * world.restitution  # kernel.cu:20
    b_height_3 = jnp.where(below, b_height_2, b_height)
    height = balls.height.at[:count].set(b_height_3)  # kernel.cu:24
    b_speed_2 = -b_speed * world.restitution  # kernel.cu:21
    b_speed_3 = jnp.where(below, b_speed_2, b_speed)
    speed = balls.speed.at[:count].set(b_speed_3)  # kernel.cu:24
    bounces = balls.bounces.at[:count].add(jnp.where(below, 1, 0))  # kernel.cu:24
    energy = energy.at[:count].set(
        0.5 * b_speed_3 * b_speed_3 + world.gravity * b_height_3
    )  # kernel.cu:25
    return balls._replace(height=height, speed=speed, bounces=bounces), energy


@partial(jax.jit, static_argnames="count")
def bounce_grad(balls, world, dt, energy, count):
    """Value and gradient of mean(energy) - sum(balls.height) with respect to balls, world.restitution and dt."""

    def loss(balls, world_restitution, dt):
        balls_new, energy_new = bounce(
            balls, world._replace(restitution=world_restitution), dt, energy, count
        )
        return jnp.mean(energy_new) - jnp.sum(balls_new.height)

    return jax.value_and_grad(loss, argnums=(0, 1, 2), allow_int=True)(
        balls, world.restitution, dt
    )


@partial(jax.jit, static_argnames="count")
def bounce_vjp(balls, world, dt, energy, count, balls_bar, energy_bar):
    """Gradients with respect to balls, world.restitution and dt, given the cotangents of balls and energy."""

    def primal(balls, world_restitution, dt):
        balls_new, energy_new = bounce(
            balls, world._replace(restitution=world_restitution), dt, energy, count
        )
        return balls_new.height, balls_new.speed, energy_new

    _, pull = jax.vjp(primal, balls, world.restitution, dt)
    return pull((balls_bar.height, balls_bar.speed, energy_bar))
