"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


def checkpointed_loop(start, stop, step, state):
    """``fori_loop`` whose rounds the gradient runs again; in segments of sqrt(n) rounds, where all states are many."""

    def kept(op, *values, **_):
        return op.name == "dot_general" and min(v.ndim for v in values) == 1

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


@partial(jax.jit, static_argnames="n")
def damp(v, d, out, n):
    """adds the damping that each site has of its own

    out[i] += d[i] * v[i]  for 0 <= i < n
    """
    return out.at[:n].add(d[:n] * v[:n])  # kernel.cu:18


@partial(jax.jit, static_argnames="n")
def strongest_mode_transform(first, moved, n):
    """first[i] = moved[i] / (1.0 + abs(moved[i]) / 8.0)  for 0 <= i < n"""
    v = moved[:n]  # kernel.cu:38
    return first.at[:n].set(v / (1.0 + jnp.abs(v) / 8.0))  # kernel.cu:38


@partial(jax.jit, static_argnames=("n", "rounds"))
def strongest_mode(a, d, v, history, n, rounds):
    """the strongest mode of a symmetric matrix with damping, and its strength after each round

    the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    v = v.at[:n].set(1.0)
    strengths = jnp.zeros(rounds, a.dtype)
    a2 = a[: n * n].reshape(n, n)

    def step(k, state):
        v, strengths = state
        with jax.default_matmul_precision("float32"):  # no TF32, no bfloat16
            next = v[:n] @ a2  # kernel.cu:32
        next = damp(v, d, next, n)  # kernel.cu:33
        length = jnp.linalg.norm(next)  # kernel.cu:35
        scale = 1.0 / length
        next = scale * next  # kernel.cu:37
        v = strongest_mode_transform(v, next, n)  # kernel.cu:38
        strengths = strengths.at[k].set(length)
        return v, strengths

    v, strengths = checkpointed_loop(0, rounds, step, (v, strengths))  # kernel.cu:31
    history = history.at[:rounds].set(strengths)
    return v, history
