"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


def checkpointed_loop(start, stop, step, state):
    """``fori_loop`` whose rounds the gradient runs again; in segments of sqrt(n) rounds."""
    step = jax.checkpoint(step, prevent_cse=False)
    rounds = max(stop - start, 0)
    size = max(int(rounds**0.5), 1)

    def segment(k, state):
        first = start + k * size
        return jax.lax.fori_loop(0, size, lambda r, s: step(first + r, s), state)

    segment = jax.checkpoint(segment, prevent_cse=False)
    state = jax.lax.fori_loop(0, rounds // size, segment, state)
    return jax.lax.fori_loop(start + rounds // size * size, stop, step, state)


@partial(jax.jit, static_argnames="steps")
def rod_cooling(temp, heat, rate, steps):
    """Temperatures of a rod that radiates; both ends are held. The steps are run again in the gradient.

    for t = 0 ... steps - 1:
        temp[i] = temp[i] + rate * (temp[i - 1] - 2.0 * temp[i] + temp[i + 1]) - heat * temp[i]**4
            for 1 <= i < n - 1

    the gradient keeps the states between rounds, about 2 sqrt(rounds),
    and runs rounds again (--remat)
    """

    def step(_, temp):
        temp_here = temp[1:-1]
        return temp.at[1:-1].set(
            temp_here
            + rate * (temp[:-2] - 2.0 * temp_here + temp[2:])
            - heat * temp_here**4
        )  # kernel.py:9

    return checkpointed_loop(0, steps, step, temp)  # kernel.py:5


@partial(jax.jit, static_argnames="steps")
def rod_cooling_grad(temp, heat, rate, steps):
    """Value and gradient of sum(temp) with respect to temp, heat and rate."""

    def loss(temp, heat, rate):
        return jnp.sum(rod_cooling(temp, heat, rate, steps))

    return jax.value_and_grad(loss, argnums=(0, 1, 2))(temp, heat, rate)


@partial(jax.jit, static_argnames="steps")
def rod_cooling_vjp(temp, heat, rate, steps, temp_bar):
    """Gradients with respect to temp, heat and rate, given the cotangent of temp."""

    def primal(temp, heat, rate):
        return rod_cooling(temp, heat, rate, steps)

    _, pull = jax.vjp(primal, temp, heat, rate)
    return pull(temp_bar)
