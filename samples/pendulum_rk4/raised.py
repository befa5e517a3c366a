"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Runge-Kutta steps whose stages are in small arrays of each thread.
"""

from functools import partial

import jax
import jax.numpy as jnp


def rounds_at_once(many):
    """How many rounds of a loop to unroll: a launch of a GPU costs more than a round, a CPU's cache prefers one."""
    return 1 if jax.default_backend() == "cpu" else many


def checkpointed_loop(start, stop, step, state, unroll=1):
    """``fori_loop`` whose rounds the gradient runs again; in segments of sqrt(n) rounds, where all states are many."""
    step = jax.checkpoint(step, prevent_cse=False)
    rounds = max(stop - start, 0)
    few = 2**22 if jax.default_backend() == "cpu" else 2**28
    if rounds * sum(map(jnp.size, jax.tree.leaves(state))) <= few:
        return jax.lax.fori_loop(start, stop, step, state, unroll=unroll)
    size = max(int(rounds**0.5), 1)

    def segment(k, state):
        first = start + k * size
        return jax.lax.fori_loop(
            0, size, lambda r, s: step(first + r, s), state, unroll=unroll
        )

    segment = jax.checkpoint(segment, prevent_cse=False)
    state = jax.lax.fori_loop(0, rounds // size, segment, state)
    rest = start + rounds // size * size
    return jax.lax.fori_loop(rest, stop, step, state, unroll=unroll)


@partial(jax.jit, static_argnames="steps")
def pendulums(state, out, h, steps):
    """Angle and speed of each pendulum after some steps of length h.

    y_0, y_1 = state[i, 0], state[i, 1]  for 0 <= i < state.shape[0]
    for j = 0 ... steps - 1:
        all at once:
            y_0 = y_0 + h / 6.0 * (y_1 + 2.0 * (y_1 + 0.5 * h * k_0_1) + 2.0 * (y_1 + 0.5 * h *
                k_1_1) + y_1 + h * k_2_1)
            y_1 = y_1 + h / 6.0 * (k_0_1 + 2.0 * k_1_1 + 2.0 * k_2_1 + k_3_1)
    out[i, 0] = y_0  for 0 <= i < state.shape[0]
    out[i, 1] = y_1  for 0 <= i < state.shape[0]

    the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    state = state.astype(jnp.result_type(state, jnp.float32))
    ratio = h / 6.0

    def step(_, state_2):
        y_0, y_1 = state_2
        k_0_1 = -jnp.sin(y_0)  # kernel.py:29
        t_1 = (y_1 + 0.5 * h * k_0_1).astype(jnp.float32)  # kernel.py:27
        t_0 = (y_0 + 0.5 * h * y_1).astype(jnp.float32)
        k_1_1 = -jnp.sin(t_0)  # kernel.py:29
        t_1_2 = (y_1 + 0.5 * h * k_1_1).astype(jnp.float32)  # kernel.py:27
        t_0_2 = (y_0 + 0.5 * h * t_1).astype(jnp.float32)
        k_2_1 = -jnp.sin(t_0_2)  # kernel.py:29
        t_1_3 = (y_1 + h * k_2_1).astype(jnp.float32)  # kernel.py:25
        y_0_2 = (y_0 + ratio * (y_1 + 2.0 * t_1 + 2.0 * t_1_2 + t_1_3)).astype(
            jnp.float32
        )  # kernel.py:31
        t_0_3 = (y_0 + h * t_1_2).astype(jnp.float32)  # kernel.py:25
        k_3_1 = -jnp.sin(t_0_3)  # kernel.py:29
        y_1_2 = (y_1 + ratio * (k_0_1 + 2.0 * k_1_1 + 2.0 * k_2_1 + k_3_1)).astype(
            jnp.float32
        )  # kernel.py:31
        return y_0_2.astype(state.dtype), y_1_2.astype(state.dtype)

    y_0, y_1 = checkpointed_loop(
        0, steps, step, (state[:, 0], state[:, 1]), unroll=rounds_at_once(8)
    )  # kernel.py:19
    return out.at[: state.shape[0], :2].set(
        jnp.stack((y_0, y_1), axis=1)
    )  # kernel.py:33
