"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Buffers that change places within a kernel: a rod that cools by a cooperative launch, a ring that is smoothed.
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


@partial(jax.jit, static_argnames="rounds")
def cool_rod(hot, cold, rounds, k):
    """for r = 0 ... rounds // 2 - 1:
        cold[cell] = hot[cell] + k * (hot[cell - 1] - 2.0 * hot[cell] + hot[cell + 1])
            for 1 <= cell < hot.shape[0] - 1
        hot[cell] = cold[cell] + k * (cold[cell - 1] - 2.0 * cold[cell] + cold[cell + 1])
            for 1 <= cell < cold.shape[0] - 1
    cold[cell] = hot[cell] + k * (hot[cell - 1] - 2.0 * hot[cell] + hot[cell + 1])
        for 1 <= cell < hot.shape[0] - 1, where rounds > 0 and rounds % 2 == 1

    the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    n = hot.shape[0]

    def step(_, state):
        cold, hot = state
        cold = cold.at[1 : max(n - 1, 0)].set(
            hot[1:-1] + k * (hot[:-2] - 2.0 * hot[1:-1] + hot[2:])
        )  # kernel.py:19
        hot = hot.at[1 : max(cold.shape[0] - 1, 0)].set(
            cold[1:-1] + k * (cold[:-2] - 2.0 * cold[1:-1] + cold[2:])
        )  # kernel.py:19
        return cold, hot

    cold, hot = checkpointed_loop(0, rounds // 2, step, (cold, hot))  # kernel.py:10
    cold = (
        cold.at[1 : max(n - 1, 0)].set(
            hot[1:-1] + k * (hot[:-2] - 2.0 * hot[1:-1] + hot[2:])
        )
        if rounds > 0 and rounds % 2 == 1
        else cold
    )  # kernel.py:19
    return hot, cold


@partial(jax.jit, static_argnames=("n", "rounds"))
def smooth_ring(a, b, out, n, rounds):
    """for j = 0 ... rounds // 2 - 1:
        b[i] = 0.25 * (a[(i + n - 1) % n] + 2.0 * a[i] + a[(i + 1) % n])  for 0 <= i < n
        a[i] = 0.25 * (b[(i + n - 1) % n] + 2.0 * b[i] + b[(i + 1) % n])  for 0 <= i < n
    b[i] = 0.25 * (a[(i + n - 1) % n] + 2.0 * a[i] + a[(i + 1) % n])
        for 0 <= i < n, where rounds > 0 and rounds % 2 == 1
    out[i] = b[i] if rounds > 0 and rounds % 2 == 1 else a[i]  for 0 <= i < n

    the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    a1 = a[:n]
    b1 = b[:n]

    def step(_, state):
        a1, b1 = state
        b1 = (0.25 * (jnp.roll(a1, 1) + 2.0 * a1 + jnp.roll(a1, -1))).astype(
            b.dtype
        )  # kernel.py:29
        a1 = (0.25 * (jnp.roll(b1, 1) + 2.0 * b1 + jnp.roll(b1, -1))).astype(
            a.dtype
        )  # kernel.py:29
        return a1, b1

    a1, b1 = checkpointed_loop(
        0, rounds // 2, step, (a1, b1), unroll=rounds_at_once(8)
    )  # kernel.py:27
    b1 = (
        (0.25 * (jnp.roll(a1, 1) + 2.0 * a1 + jnp.roll(a1, -1))).astype(b.dtype)
        if rounds > 0 and rounds % 2 == 1
        else b1
    )  # kernel.py:29
    out = out.at[:n].set(
        jnp.where((rounds > 0) & (rounds % 2 == 1), b1, a1)
    )  # kernel.py:33
    a = a.at[:n].set(a1)
    b = b.at[:n].set(b1)
    return a, b, out
