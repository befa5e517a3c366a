"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Body(NamedTuple):
    x: jax.Array
    y: jax.Array
    vx: jax.Array
    vy: jax.Array
    mass: jax.Array


def checkpointed_loop(start, stop, step, state):
    """``fori_loop`` whose rounds the gradient runs again; in segments of sqrt(n) rounds, where all states are many."""

    def kept(op, *values, **_):
        return op.name == "dot_general" and min(v.ndim for v in values) == 1

    step = jax.checkpoint(step, prevent_cse=False, policy=kept)
    rounds = max(stop - start, 0)
    few = 2**22 if jax.default_backend() == "cpu" else 2**28
    if rounds * sum(map(jnp.size, jax.tree.leaves(state))) <= few:
        return jax.lax.fori_loop(start, stop, step, state)
    size = max(int(rounds**0.5), 1)

    def segment(k, state):
        first = start + k * size
        return jax.lax.fori_loop(0, size, lambda r, s: step(first + r, s), state)

    segment = jax.checkpoint(segment, prevent_cse=False)
    state = jax.lax.fori_loop(0, rounds // size, segment, state)
    return jax.lax.fori_loop(start + rounds // size * size, stop, step, state)


@partial(jax.jit, static_argnames="n")
def kick(bodies, n, dt, softening):
    """bodies.vx[i] += dt * sum_j bodies.mass[j] * dx * inv * inv * inv  for 0 <= i < n
    bodies.vy[i] += dt * sum_j bodies.mass[j] * dy * inv * inv * inv  for 0 <= i < n
    """
    dx = bodies.x[:n] - bodies.x[:n, None]  # kernel.cu:24
    dy = bodies.y[:n] - bodies.y[:n, None]
    inv = jax.lax.rsqrt(dx * dx + dy * dy + softening)
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        vx = bodies.vx.at[:n].add(
            dt * ((dx * inv * inv * inv) @ bodies.mass[:n])
        )  # kernel.cu:30
        vy = bodies.vy.at[:n].add(
            dt * ((dy * inv * inv * inv) @ bodies.mass[:n])
        )  # kernel.cu:31
    return bodies._replace(vx=vx, vy=vy)


@partial(jax.jit, static_argnames="n")
def drift(bodies, n, dt):
    """bodies.x[i] += dt * bodies.vx[i]  for 0 <= i < n
    bodies.y[i] += dt * bodies.vy[i]  for 0 <= i < n
    """
    x = bodies.x.at[:n].add(dt * bodies.vx[:n])  # kernel.cu:40
    y = bodies.y.at[:n].add(dt * bodies.vy[:n])  # kernel.cu:40
    return bodies._replace(x=x, y=y)


@partial(jax.jit, static_argnames="n")
def simulate_loop(host_mass, host_vx, host_vy, n, energy):
    """returns energy + sum_i 0.5 * host_mass[i] * (host_vx[i] * host_vx[i] + host_vy[i] * host_vy[i])"""
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        return energy + 0.5 * (
            host_mass[:n] @ (host_vx[:n] * host_vx[:n] + host_vy[:n] * host_vy[:n])
        )  # kernel.cu:56


@partial(jax.jit, static_argnames=("n", "steps"))
def simulate(host_x, host_y, host_vx, host_vy, host_mass, n, steps, dt):
    """the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    bodies_x = host_x[:n]
    bodies_y = host_y[:n]
    bodies_vx = host_vx[:n]
    bodies_vy = host_vy[:n]
    bodies_mass = host_mass[:n]

    def advance(_, state):
        bodies_x, bodies_y, bodies_vx, bodies_vy = state
        _, _, bodies_vx, bodies_vy, _ = kick(
            Body(bodies_x, bodies_y, bodies_vx, bodies_vy, bodies_mass), n, dt, 0.1
        )  # kernel.cu:50
        bodies_x, bodies_y, _, _, _ = drift(
            Body(bodies_x, bodies_y, bodies_vx, bodies_vy, bodies_mass), n, dt
        )  # kernel.cu:51
        return bodies_x, bodies_y, bodies_vx, bodies_vy

    bodies_x, bodies_y, bodies_vx, bodies_vy = checkpointed_loop(
        0, steps, advance, (bodies_x, bodies_y, bodies_vx, bodies_vy)
    )  # kernel.cu:49
    host_x = host_x.at[:n].set(bodies_x)
    host_y = host_y.at[:n].set(bodies_y)
    host_vx = host_vx.at[:n].set(bodies_vx)
    host_vy = host_vy.at[:n].set(bodies_vy)
    host_mass = host_mass.at[:n].set(bodies_mass)
    energy = simulate_loop(host_mass, host_vx, host_vy, n, 0.0)  # kernel.cu:56
    return energy, host_x, host_y, host_vx, host_vy, host_mass
