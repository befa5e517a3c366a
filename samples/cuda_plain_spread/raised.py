"""Vectorized twin of kernel.c, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)  # kernel.c uses 64 bits


@partial(jax.jit, static_argnames="n")
def spread(n, x, y, mass, distance, largest):
    """a loop nest in plain C: distances to the centre of mass, and their largest

    distance[i] = sqrt((x[i] - cx) * (x[i] - cx) + (y[i] - cy) * (y[i] - cy))  for 0 <= i < n
    largest[0] = max(0.0, max_i(sqrt((x[i] - cx) * (x[i] - cx) + (y[i] - cy) * (y[i] - cy))))
    """
    total = jnp.sum(mass[:n])  # kernel.c:7
    cx = mass[:n] @ x[:n] / total  # kernel.c:12
    dx = x[:n] - cx  # kernel.c:16
    cy = mass[:n] @ y[:n] / total  # kernel.c:13
    dy = y[:n] - cy  # kernel.c:16
    total_2 = dx * dx + dy * dy
    equal = total_2 == 0.0
    distance_new = jnp.where(equal, 0.0, jnp.sqrt(jnp.where(equal, 1.0, total_2)))
    distance = distance.at[:n].set(distance_new)  # kernel.c:17
    m = jnp.maximum(0.0, distance_new.max()) if n > 0 else 0.0  # kernel.c:15
    largest = largest.at[0].set(m)  # kernel.c:20
    return distance, largest
