"""Distances to the centre of mass by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def spread(n, x, y, mass, distance, largest):
    """A point at the centre has no direction: its distance is 0 there, and has no slope (the root's is infinite)."""
    x, y, mass = x[:n], y[:n], mass[:n]
    total = mass.sum()
    dx, dy = x - mass @ x / total, y - mass @ y / total
    square = dx * dx + dy * dy
    away = jnp.where(square > 0, jnp.sqrt(jnp.where(square > 0, square, 1)), 0)
    return distance.at[:n].set(away), largest.at[0].set(away.max(initial=0.0))
