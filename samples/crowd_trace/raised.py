"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


def rounds_at_once(many):
    """How many rounds of a loop to unroll: a launch of a GPU costs more than a round, a CPU's cache prefers one."""
    return 1 if jax.default_backend() == "cpu" else many


def checkpointed_scan(step, state, inputs, length=None, unroll=1):
    """``scan`` whose rounds the gradient runs again; in segments of sqrt(n) rounds, where all states are many."""
    step = jax.checkpoint(step, prevent_cse=False)
    rounds = len(jax.tree.leaves(inputs)[0]) if length is None else length
    few = 2**22 if jax.default_backend() == "cpu" else 2**28
    if rounds * sum(map(jnp.size, jax.tree.leaves(state))) <= few:
        return jax.lax.scan(step, state, inputs, length, unroll=unroll)
    size = max(int(rounds**0.5), 1)
    cut = rounds // size * size

    def segment(state, inputs):
        return jax.lax.scan(step, state, inputs, size, unroll=unroll)

    segment = jax.checkpoint(segment, prevent_cse=False)
    count = rounds // size
    first = jax.tree.map(lambda x: x[:cut].reshape(count, size, *x.shape[1:]), inputs)
    state, made = jax.lax.scan(segment, state, first, count)
    rest = jax.tree.map(lambda x: x[cut:], inputs)
    state, more = jax.lax.scan(step, state, rest, rounds - cut, unroll=unroll)
    made = jax.tree.map(lambda x: x.reshape(cut, *x.shape[2:]), made)
    return state, jax.tree.map(lambda a, b: jnp.concatenate([a, b]), made, more)


@partial(jax.jit, static_argnames="steps")
def crowd_trace(x, v, spread, dt, steps):
    """Walkers on a line that attract each other, and how far they are spread in each step.

    for t = 0 ... steps - 1:
        v[i] += dt * sum_j (x[j] - x[i]) / (1.0 + (x[j] - x[i]) * (x[j] - x[i]))  for 0 <= i < n
        x[i] += dt * v[i]  for 0 <= i < n
        spread_out[t] = sum_i x[i] * x[i]
    spread[t] = spread_out[t]  for 0 <= t < steps

    the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    if jnp.ndim(x) != 1:
        raise ValueError(
            "crowd_trace: x must have 1 axis (parts of it are written with a colon)"
        )
    n = x.shape[0]
    v1 = v[:n]

    def step(state, _):
        v1, x = state
        d = x - x[:, None]  # kernel.py:8
        v1 = (v1 + dt * jnp.sum(d / (1.0 + d * d), axis=1)).astype(
            v.dtype
        )  # kernel.py:10
        x = (x + dt * v1).astype(x.dtype)  # kernel.py:12
        return (v1, x), jnp.sum(x * x)

    (v1, x), spread_out = checkpointed_scan(
        step, (v1, x), None, length=steps, unroll=rounds_at_once(8)
    )  # kernel.py:4
    spread = spread.at[:steps].set(spread_out)  # kernel.py:16
    v = v.at[:n].set(v1)
    return x, v, spread
