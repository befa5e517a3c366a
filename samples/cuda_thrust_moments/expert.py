"""Standardised data, ranked and summed, by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def standardise(x, mean, deviation, n):
    return x.at[:n].set((x[:n] - mean) / deviation)


@partial(jax.jit, static_argnames="n")
def moments(samples, ranked, n, floor):
    x = samples[:n]
    z = (x - x.mean()) / x.std()
    sums = jnp.cumsum(jnp.sort(jnp.maximum(z, floor)))
    return sums.max() - sums.min(), ranked.at[:n].set(sums)


def large(rng):
    x, ranked = rng.random((2, 50_000), "f")
    return {
        "standardise": {"x": x, "mean": 0.5, "deviation": 0.3, "n": x.size},
        "moments": {"samples": x, "ranked": ranked, "n": x.size, "floor": -0.4},
    }
