"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def draining_tanks(y, level, rate):
    """Torricelli's law, step by step; a tank that has run dry (or overdrawn) is left alone.

    stopped, v = False, level[i]  for 0 <= i < level.shape[0]
    for t = 0 ... 11:
        all at once:
            stopped = v <= 0.0 or stopped
            v = v if stopped or v <= 0.0 else v - rate * sqrt(v)
    y[i] = v  for 0 <= i < level.shape[0]
    """

    def step(_, state):
        stopped, v = state
        either = stopped | (v <= 0.0)
        v_2 = v - rate * jnp.sqrt(jnp.where(either, 1, v))  # kernel.py:15
        v_3 = jnp.where(either, v, v_2)
        return either, v_3

    _, v = jax.lax.fori_loop(
        0, 12, step, (jnp.zeros(level.shape, bool), level)
    )  # kernel.py:12
    return y.at[: level.shape[0]].set(v)  # kernel.py:16
