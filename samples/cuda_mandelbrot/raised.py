"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import equinox.internal as eqxi
import jax
import jax.numpy as jnp

MAX_ITER = 40


@partial(jax.jit, static_argnames=("width", "height"))
def mandelbrot(counts, width, height, x0, y0, scale):
    """stopped, zi, zr, it = False, 0.0, 0.0, 0  for 0 <= px < width, 0 <= py < height
    while any_(px, py)(not stopped and it < MAX_ITER):
        all at once:
            stopped = zr * zr + zi * zi > 4.0 or stopped if not stopped and it < MAX_ITER else stopped
            zi = 2.0 * zr * zi + y0 + py * scale if not stopped and it < MAX_ITER and not zr2 + zi2 > 4.0 else zi
            zr = zr2 - zi2 + x0 + px * scale if not stopped and it < MAX_ITER and not zr2 + zi2 > 4.0 else zr
            it = it + 1 if not stopped and it < MAX_ITER and not zr * zr + zi * zi > 4.0 else it
    counts[py, px] = it  for 0 <= px < width, 0 <= py < height

    The loop's trip count depends on data: equinox's checkpointed while loop.
    """
    zero = jnp.zeros((width, height), jnp.float32)
    py = jnp.arange(height)
    px = jnp.arange(width)

    def live(state):
        stopped, _, _, it = state
        both_3 = ~stopped & (it < MAX_ITER)
        return both_3.any()

    def step(state):
        stopped, zi, zr, it = state
        both = ~stopped & (it < MAX_ITER)
        zr2 = zr * zr  # kernel.cu:7
        zi2 = zi * zi
        above = zr2 + zi2 > 4.0
        both_2 = both & ~above
        zi_2 = 2.0 * zr * zi + (y0 + py.astype(jnp.float32) * scale)  # kernel.cu:9
        zr_2 = zr2 - zi2 + (x0 + px[:, None].astype(jnp.float32) * scale)
        return (
            jnp.where(both, above | stopped, stopped),
            jnp.where(both_2, zi_2, zi),
            jnp.where(both_2, zr_2, zr),
            jnp.where(both_2, it + 1, it),
        )

    _, _, _, it = eqxi.while_loop(
        live,
        step,
        (
            jnp.zeros((width, height), bool),
            zero,
            zero,
            jnp.zeros((width, height), jnp.int32),
        ),
        kind="checkpointed",
        checkpoints=32,
    )  # kernel.cu:6
    counts2 = it.T  # kernel.cu:18
    return counts.at[: height * width].set(counts2.ravel())
