"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Newton's method with a tolerance and a bound on the iterations: exits in the middle and at the end.
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


@partial(jax.jit, static_argnames="most")
def kepler(mean, eccentricity, anomaly, rounds, tolerance, most):
    """stopped, x, n = False, mean[i], 0  for 0 <= i < mean.shape[0]
    for round = 0 ... most - 1:
        all at once:
            stopped = stopped or slope < 0.05 or abs(step) < tolerance
            x = x - step if not stopped and not slope < 0.05 else x
            n = n + 1 if not stopped and not 1.0 - eccentricity[i] * cos(x) < 0.05 else n
    anomaly[i] = x  for 0 <= i < mean.shape[0]
    rounds[i] = n  for 0 <= i < mean.shape[0]

    the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    m = mean.shape[0]
    dtype = jnp.result_type(eccentricity, mean)
    e = eccentricity[:m]  # kernel.py:12

    def step(_, state):
        stopped, x, n = state
        slope = 1.0 - e * jnp.cos(x)  # kernel.py:16
        both = ~stopped & ~(slope < 0.05)
        safe_slope = jnp.where(both, slope, 1)
        step_2 = (x - e * jnp.sin(x) - mean) / safe_slope  # kernel.py:19
        return (
            ~both | (jnp.abs(step_2) < tolerance),
            jnp.where(both, x - step_2, x),
            jnp.where(both, n + 1, n),
        )

    _, x, n = checkpointed_loop(
        0,
        most,
        step,
        (jnp.zeros(mean.shape, bool), mean.astype(dtype), jnp.zeros(mean.shape, int)),
        unroll=rounds_at_once(32),
    )  # kernel.py:15
    anomaly = anomaly.at[:m].set(x)  # kernel.py:24
    rounds = rounds.at[:m].set(n)  # kernel.py:25
    return anomaly, rounds


@jax.jit
def first_passage(steps, level, when, where):
    """the first time that a walk passes a level: -1 if it never does

    position, stopped, when = 0.0, False, -1  for 0 <= i < steps.shape[0]
    for t = 0 ... steps.shape[1] - 1:
        all at once:
            position = position if stopped else position + steps[i, t]
            stopped = position + steps[i, t] > level or stopped
            when = t if not stopped and position + steps[i, t] > level else when
    when[i] = when  for 0 <= i < steps.shape[0]
    where[i] = position  for 0 <= i < steps.shape[0]
    """
    rows, cols = steps.shape
    dtype = jnp.result_type(steps, 1.0)

    def step(state, inputs):
        position, stopped, when_2 = state
        t, steps_t = inputs
        position_2 = position + steps_t  # kernel.py:36
        above = position_2 > level
        return (
            (
                jnp.where(stopped, position, position_2),
                above | stopped,
                jnp.where(~stopped & above, t, when_2).astype(when.dtype),
            ),
            None,
        )

    (position, _, when_2), _ = jax.lax.scan(
        step,
        (jnp.zeros(rows, dtype), jnp.zeros(rows, bool), jnp.full(rows, -1, when.dtype)),
        (jnp.arange(cols), steps.T),
        unroll=rounds_at_once(32),
    )  # kernel.py:35
    when = when.at[:rows].set(when_2)  # kernel.py:35
    where = where.at[:rows].set(position)  # kernel.py:40
    return when, where
