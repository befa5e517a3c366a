"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


def checkpointed_loop(start, stop, step, state):
    """``fori_loop`` whose rounds the gradient runs again; in segments of sqrt(n) rounds, where all states are many."""
    step = jax.checkpoint(step, prevent_cse=False)
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


@partial(jax.jit, static_argnames="n", inline=True)
def move_density(density, momentum, next, c, n):
    """
    next[i] = 0.5 * (density[i - 1] + density[i + 1]) - 0.5 * c * (momentum[i + 1] - momentum[i - 1])
        for 1 <= i < n - 1
    """
    if n < 2:
        return next
    inner = 0.5 * (density[: n - 2] + density[2:n]) - 0.5 * c * (
        momentum[2:n] - momentum[: n - 2]
    )  # kernel.cu:24
    first, _, last = jnp.split(next, (1, n - 1))
    return jnp.concatenate((first, inner, last))  # kernel.cu:24


@partial(jax.jit, static_argnames="n", inline=True)
def move_momentum(density, momentum, next, c, n):
    """next[i] = 0.5 * (momentum[i - 1] + momentum[i + 1]) - 0.5 * c * (right - left)  for 1 <= i < n - 1"""
    if n < 2:
        return next
    momentum_left = momentum[: n - 2]
    momentum_right = momentum[2:n]
    right = (
        momentum_right * momentum_right / density[2:n] + density[2:n]
    )  # kernel.cu:31
    left = (
        momentum_left * momentum_left / density[: n - 2] + density[: n - 2]
    )  # kernel.cu:30
    inner = 0.5 * (momentum_left + momentum_right) - 0.5 * c * (
        right - left
    )  # kernel.cu:32
    first, _, last = jnp.split(next, (1, n - 1))
    return jnp.concatenate((first, inner, last))  # kernel.cu:32


@partial(jax.jit, static_argnames=("n", "steps"))
def shock_tube(density, momentum, n, courant, steps):
    """the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    gas_density_0 = density[:n]
    gas_momentum_0 = momentum[:n]

    def advance(_, state):
        gas_density_0, gas_momentum_0 = state
        gas_density_1 = move_density(
            gas_density_0, gas_momentum_0, gas_density_0, courant, n
        )  # kernel.cu:50
        gas_momentum_1 = move_momentum(
            gas_density_0, gas_momentum_0, gas_momentum_0, courant, n
        )  # kernel.cu:51
        return gas_density_1, gas_momentum_1

    gas_density_0, gas_momentum_0 = checkpointed_loop(
        0, steps, advance, (gas_density_0, gas_momentum_0)
    )  # kernel.cu:59
    density = density.at[:n].set(gas_density_0)
    momentum = momentum.at[:n].set(gas_momentum_0)
    return density, momentum
