"""Energies of blocks and a misfit by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("grid", "block"))
def block_energy(v, mass, total, *, grid, block):
    energy = 0.5 * mass * (v**2).sum(axis=1)
    return jnp.pad(energy, (0, grid * block - energy.size)).reshape(grid, block).sum(axis=1)


@partial(jax.jit, static_argnames="n")
def misfit(model, data, sigma, n):
    return 0.5 * jnp.sum(((model[:n] - data[:n]) / sigma) ** 2)


def large(rng):
    grid = 20_000
    v, mass = rng.random((32 * grid - 9, 2), "f"), 0.5 + rng.random(32 * grid - 9, "f")
    model, data = rng.random((2, 1_000_000), "f")
    return {
        "block_energy": {"v": v, "mass": mass, "total": mass[:grid], "grid": grid, "block": 32},
        "misfit": {"model": model, "data": data, "sigma": 0.3, "n": 999_999},
    }
