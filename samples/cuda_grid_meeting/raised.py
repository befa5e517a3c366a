"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


def checkpointed_loop(start, stop, step, state):
    """``fori_loop`` whose rounds the gradient runs again; in segments of sqrt(n) rounds, where all states are many."""
    step = jax.checkpoint(step, prevent_cse=False)
    rounds = max(stop - start, 0)
    few = 2**22 if jax.default_backend() == "cpu" else 2**28
    if rounds * sum(map(jnp.size, jax.tree.leaves(state))) <= few:
        return jax.lax.fori_loop(start, stop, step, state)
    size = max(int(rounds**0.5), 1)

    def segment(k, state):
        first = start + k * size
        return jax.lax.fori_loop(0, size, lambda r, s: step(first + r, s), state)

    segment = jax.checkpoint(segment, prevent_cse=False)
    state = jax.lax.fori_loop(0, rounds // size, segment, state)
    return jax.lax.fori_loop(start + rounds // size * size, stop, step, state)


@partial(jax.jit, static_argnames=("cells", "rounds"))
def relax_rod(now, next, cells, rounds):
    """for r = 0 ... rounds - 1:
        now[c] += 0.25 * (now[c - 1] - 2.0 * now[c] + now[c + 1])  for 1 <= c < cells - 1
    next[c] = now[c]  for 1 <= c < cells - 1, where rounds > 0

    the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    if cells < 2:
        return now, next

    def step(_, now):
        return now.at[1 : cells - 1].add(
            0.25 * (now[: cells - 2] - 2.0 * now[1 : cells - 1] + now[2:cells])
        )  # kernel.cu:11

    now = checkpointed_loop(0, rounds, step, now)  # kernel.cu:8
    next = (
        next.at[1 : cells - 1].set(now[1 : cells - 1]) if rounds > 0 else next
    )  # kernel.cu:9
    return now, next


@partial(jax.jit, static_argnames="n")
def smooth_then_differ(x, smooth, rough, n):
    """smooth[i] = (x[i - 1] + x[i] + x[i + 1]) / 3.0  for 1 <= i < n - 1
    rough[i] = smooth[i + 1] - smooth[i - 1]  for 2 <= i < n - 2
    """
    if n < 3:
        return smooth, rough
    smooth = smooth.at[1 : n - 1].set(
        (x[: n - 2] + x[1 : n - 1] + x[2:n]) / 3.0
    )  # kernel.cu:18
    rough = rough.at[2 : n - 2].set(
        smooth[3 : n - 1] - smooth[1 : n - 3]
    )  # kernel.cu:20
    return smooth, rough
