"""Means over windows by hand: of seven that the ends cut short, and of five from each on."""

from functools import partial

import jax
import jax.numpy as jnp


def _windows(x, width, count):
    return sum(x[k : k + count] for k in range(width))


@partial(jax.jit, static_argnames="n")
def moving_average(signal, smooth, n):
    i = jnp.arange(n)
    size = jnp.minimum(i + 3, n - 1) - jnp.maximum(i - 3, 0) + 1
    return smooth.at[:n].set(_windows(jnp.pad(signal[:n], 3), 7, n) / size)


@jax.jit
def trailing_average(signal, smooth):
    return _windows(signal, 5, smooth.size) / 5


def large(rng):
    x = rng.random(1_000_000, "f")
    return {
        "moving_average": {"signal": x, "smooth": 0 * x, "n": x.size},
        "trailing_average": {"signal": x, "smooth": 0 * x[4:]},
    }
