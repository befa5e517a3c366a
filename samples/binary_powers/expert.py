"""A power, a comb of shifts and the larger neighbour by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "exponent"))
def power(x, y, n, exponent):
    return y.at[:n].set(x[:n] ** exponent)


@partial(jax.jit, static_argnames="n")
def comb(x, y, n):
    total, reach = x[:n], 1
    while reach < n:
        total = total.at[reach:].add(x[: n - reach])
        reach *= 2
    return y.at[:n].set(total)


@jax.jit
def larger_neighbour(x, y):
    """By comparisons, as in the source: a maximum would pass a NaN on, and share the gradient of equal ones. No infinity
    stands beside the ends: x may hold integers."""
    i, padded = jnp.arange(x.size), jnp.pad(x, 1)
    left = padded[:-2]
    best = jnp.where((i > 0) & (left > x), left, x)
    right = padded[2:]
    return jnp.where((i + 1 < x.size) & (right > best), right, best)


def large(rng):
    x, y = rng.random((2, 1_000_000), "f")
    return {
        "power": {"x": 0.5 + x, "y": y, "n": 999_999, "exponent": 13},
        "comb": {"x": x[:100_000], "y": y[:100_000], "n": 100_000},
        "larger_neighbour": {"x": x, "y": y},
    }
