"""Escape times by hand: a loop to the bound, points that have left keep what they have."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("width", "height"))
def mandelbrot(counts, width, height, x0, y0, scale):
    """The number of rounds that each point stays, flat."""
    cr = x0 + jnp.arange(width).astype(jnp.float32) * scale
    ci = (y0 + jnp.arange(height).astype(jnp.float32) * scale)[:, None]

    def step(_, state):
        zr, zi, n, left = state
        zr2, zi2 = zr * zr, zi * zi
        left = left | (zr2 + zi2 > 4.0)
        new_zi, new_zr = 2.0 * zr * zi + ci, zr2 - zi2 + cr
        return jnp.where(left, zr, new_zr), jnp.where(left, zi, new_zi), jnp.where(left, n, n + 1), left

    zero = jnp.zeros((height, width), jnp.float32)
    start = zero, zero, jnp.zeros((height, width), jnp.int32), jnp.zeros((height, width), bool)
    _, _, n, _ = jax.lax.fori_loop(0, 40, step, start)
    return counts.at[: height * width].set(n.ravel())
