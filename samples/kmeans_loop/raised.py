"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Lloyd's algorithm: assign, accumulate and update, each a kernel, in a loop of the host.
"""

from functools import partial

import jax
import jax.numpy as jnp


def checkpointed_loop(start, stop, step, state):
    """``fori_loop`` whose rounds the gradient runs again; in segments of sqrt(n) rounds, where all states are many."""

    def kept(op, *_, **__):
        return op.name in ("argmin", "argmax", "reduce_min", "reduce_max")

    step = jax.checkpoint(step, prevent_cse=False, policy=kept)
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


@jax.jit
def assign(points, centres, label):
    """label[i] = argmin_c(d) if min_c(d) < 1e+30 else label[i]  for 0 <= i < points.shape[0]"""
    rows, cols = points.shape
    d = jnp.sum((points[:, None] - centres[:, :cols]) ** 2, axis=2)  # kernel.py:14
    return label.at[:rows].set(
        (
            jnp.where(d.min(axis=1) < 1e30, d.argmin(axis=1), label[:rows])
            if centres.shape[0] > 0
            else label[:rows]
        ).astype(label.dtype)
    )  # kernel.py:12


@jax.jit
def accumulate(points, label, total, count):
    """count[label[i]] += 1.0  for 0 <= i < points.shape[0]
    total[label[i], k] += points[i, k]  for 0 <= i < points.shape[0], 0 <= k < points.shape[1]
    """
    rows, cols = points.shape
    count = count.at[label[:rows]].add(1.0)  # kernel.py:25
    total = total.at[label[:rows], :cols].add(points)  # kernel.py:27
    return total, count


@jax.jit
def update(total, count, centres):
    """
    centres[c, k] = total[c, k] / count[c]
        for 0 <= c < centres.shape[0], 0 <= k < centres.shape[1], where count[c] > 0.0
    """
    rows, cols = centres.shape
    above = count[:rows] > 0.0
    return jnp.where(
        above[:, None],
        total[:rows, :cols] / jnp.where(above[:, None], count[:rows, None], 1),
        centres,
    ).astype(centres.dtype)  # kernel.py:36


@partial(jax.jit, static_argnames="rounds")
def kmeans(points, start, rounds):
    """the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    n = points.shape[0]
    k = start.shape[0]
    label = jnp.zeros(n, jnp.int32)

    def step(_, state):
        centres, label = state
        total = jnp.zeros_like(start)
        count = jnp.zeros(k, start.dtype)
        label = assign(points, centres, label)  # kernel.py:47
        total, count = accumulate(points, label, total, count)  # kernel.py:48
        centres = update(total, count, centres)  # kernel.py:49
        return centres, label

    return checkpointed_loop(0, rounds, step, (start, label))  # kernel.py:44
