"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


def rounds_at_once(many):
    """How many rounds of a loop to unroll: a launch of a GPU costs more than a round, a CPU's cache prefers one."""
    return 1 if jax.default_backend() == "cpu" else many


@partial(jax.jit, static_argnames="max_iter")
def escape_time(cx, cy, steps, max_iter):
    """Mandelbrot set: rounds until |z| > 2, at most max_iter.

    x, y, n = 0.0, 0.0, 0  for 0 <= i < steps.shape[0], 0 <= j < steps.shape[1]
    for round = 0 ... max_iter - 1, where x * x + y * y <= 4.0:
        x, y, n = x * x - y * y + cx[j], 2.0 * x * y + cy[i], n + 1
    steps[i, j] = n  for 0 <= i < steps.shape[0], 0 <= j < steps.shape[1]
    """
    rows, cols = steps.shape
    dtype = jnp.result_type(cx, cy, 1.0)
    zero = jnp.zeros(steps.shape, dtype)

    def step(_, state):
        x, y, n = state
        below = x * x + y * y <= 4.0
        x_2 = x * x - y * y + cx[:cols]  # kernel.py:13
        y_new = 2.0 * x * y + cy[:rows, None]
        return (
            jnp.where(below, x_2, x),
            jnp.where(below, y_new, y),
            jnp.where(below, n + 1, n),
        )

    _, _, n = jax.lax.fori_loop(
        0,
        max_iter,
        step,
        (zero, zero, jnp.zeros(steps.shape, int)),
        unroll=rounds_at_once(32),
    )  # kernel.py:12
    return n.astype(steps.dtype)  # kernel.py:15
