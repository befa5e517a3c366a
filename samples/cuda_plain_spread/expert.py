"""Distances to the centre of mass by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def spread(n, x, y, mass, distance, largest):
    x, y, mass = x[:n], y[:n], mass[:n]
    total = mass.sum()
    dx, dy = x - mass @ x / total, y - mass @ y / total
    away = jnp.sqrt(dx * dx + dy * dy)
    return distance.at[:n].set(away), largest.at[0].set(away.max(initial=0.0))
