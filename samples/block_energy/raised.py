"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("grid", "block"))
def block_energy(v, mass, total, *, grid, block):
    """Kinetic energy of the particles of each block, by a tree in shared memory.

    total[block_x] = sum_(t_2 where block_x * block + t_2 < v.shape[0]) 0.5 * mass[block_x, t_2] *
        (v[block_x * block + t_2, 0]**2 + v[block_x * block + t_2, 1]**2)
        for 0 <= block_x < grid

    block is a power of two (the tree reduction drops elements otherwise)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block & block - 1:
        raise ValueError("block_energy: block must be a power of two")
    count = min(v.shape[0], grid * block)
    mass2 = jnp.pad(mass[:count], (0, grid * block - count)).reshape(grid, block)
    v_0 = jnp.pad(v[:count, 0], (0, grid * block - count)).reshape(grid, block)
    v_1 = jnp.pad(v[:count, 1], (0, grid * block - count)).reshape(grid, block)
    return total.at[:grid].set(
        0.5 * jnp.sum(1.0 * mass2 * (v_0**2 + v_1**2), axis=1)
    )  # kernel.py:19


@partial(jax.jit, static_argnames=("grid", "block"))
def block_energy_grad(v, mass, total, *, grid, block):
    """Gradient of total with respect to v and mass."""

    def loss(v, mass):
        return jnp.sum(block_energy(v, mass, total, grid=grid, block=block))

    return jax.grad(loss, argnums=(0, 1))(v, mass)


@partial(jax.jit, static_argnames=("grid", "block"))
def block_energy_vjp(v, mass, total, total_bar, *, grid, block):
    """Gradients with respect to v and mass, given the cotangent of total."""

    def primal(v, mass):
        return block_energy(v, mass, total, grid=grid, block=block)

    _, pull = jax.vjp(primal, v, mass)
    return pull(total_bar)


@partial(jax.jit, static_argnames="n")
def misfit(model, data, sigma, n):
    """Half the weighted sum of squares of the residuals.

    returns 0.5 * sum_i ((model[i] - data[i]) / sigma)**2
    """
    if jnp.ndim(sigma):
        raise ValueError("misfit: sigma must be a number")
    if jnp.ndim(model) != 1 or jnp.ndim(data) != 1:
        raise ValueError(
            "misfit: model, data must have 1 axis (parts of it are written with a colon)"
        )
    return 0.5 * jnp.sum(((model[:n] - data[:n]) / sigma) ** 2)


@partial(jax.jit, static_argnames="n")
def misfit_grad(model, data, sigma, n):
    """Value and gradient of result with respect to model and sigma."""

    def loss(model, sigma):
        return misfit(model, data, sigma, n)

    return jax.value_and_grad(loss, argnums=(0, 1))(model, sigma)


@partial(jax.jit, static_argnames="n")
def misfit_vjp(model, data, sigma, n, result_bar):
    """Gradients with respect to model and sigma, given the cotangent of result."""

    def primal(model, sigma):
        return misfit(model, data, sigma, n)

    _, pull = jax.vjp(primal, model, sigma)
    return pull(result_bar)
