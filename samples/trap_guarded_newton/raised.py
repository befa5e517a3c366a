"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


def rounds_at_once(many):
    """How many rounds of a loop to unroll: a launch of a GPU costs more than a round, a CPU's cache prefers one."""
    return 1 if jax.default_backend() == "cpu" else many


@jax.jit
def guarded_newton(root, error, rounds, c, limit):
    """Newton's rounds for a root; numbers up to a limit are kept apart, and the others let the rounds run away.

    v, n, stopped = c[i], 0, False  for 0 <= i < c.shape[0]
    for round = 0 ... 24:
        all at once:
            v = v if stopped else v - (v * v - c[i]) / (2.0 * v)
            n = n if stopped else n + 1
            stopped = abs((v * v - c[i]) / (2.0 * v)) < 1e-12 or stopped
    root[i] = v  for 0 <= i < c.shape[0], where c[i] > 0.0 and c[i] > limit
    error[i] = v - 0.5 * c[i]  for 0 <= i < c.shape[0], where c[i] > 0.0 and not c[i] > limit
    rounds[i] = n if c[i] > 0.0 else 0  for 0 <= i < c.shape[0]
    """
    m = c.shape[0]
    above = c > 0.0

    def step(_, state):
        v, n, stopped = state
        both = above & ~stopped
        step_2 = (v * v - c) / jnp.where(both, 2.0 * v, 1)  # kernel.py:13
        return (
            jnp.where(both, v - step_2, v),
            jnp.where(stopped, n, n + 1),
            (jnp.abs(step_2) < 1e-12) | stopped,
        )

    v, n, _ = jax.lax.fori_loop(
        0,
        25,
        jax.checkpoint(step, prevent_cse=False),
        (c, jnp.zeros(c.shape, int), jnp.zeros(c.shape, bool)),
        unroll=rounds_at_once(32),
    )  # kernel.py:12
    above_2 = c > limit
    root = root.at[:m].set(jnp.where(above & above_2, v, root[:m]))  # kernel.py:19
    error = error.at[:m].set(
        jnp.where(above & ~above_2, v - 0.5 * c, error[:m])
    )  # kernel.py:21
    n_2 = jnp.where(above, n, 0)  # kernel.py:12
    rounds = rounds.at[:m].set(n_2)  # kernel.py:22
    return root, error, rounds
