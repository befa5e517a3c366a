"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


def rounds_at_once(many):
    """How many rounds of a loop to unroll: a launch of a GPU costs more than a round, a CPU's cache prefers one."""
    return 1 if jax.default_backend() == "cpu" else many


@jax.jit
def draining_tanks(y, level, rate):
    """Torricelli's law, step by step; a tank that has run dry (or overdrawn) is left alone.

    v = level[i]  for 0 <= i < level.shape[0]
    for t = 0 ... 11:
        v = v if v <= 0.0 else v - rate * sqrt(v)
    y[i] = v  for 0 <= i < level.shape[0]
    """

    def step(_, v):
        below = v <= 0.0
        v_2 = v - rate * jnp.sqrt(jnp.where(below, 1, v))  # kernel.py:15
        return jnp.where(below, v, v_2)  # kernel.py:15

    v = jax.lax.fori_loop(0, 12, step, level, unroll=rounds_at_once(32))  # kernel.py:12
    return y.at[: level.shape[0]].set(v)  # kernel.py:16
