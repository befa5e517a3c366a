"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

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


@partial(jax.jit, static_argnames="n")
def logistic(growth, start, end, n):
    """each thread follows one population for many generations

    x = start[i]  for 0 <= i < n
    for t = 0 ... 199:
        x = x + 0.05 * growth[i] * x * (1.0 - x)
    end[i] = x  for 0 <= i < n

    the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """

    def step(_, x):
        return x + 0.05 * growth[:n] * x * (1.0 - x)  # kernel.cu:9

    x = checkpointed_loop(
        0, 200, step, start[:n], unroll=rounds_at_once(32)
    )  # kernel.cu:8
    return end.at[:n].set(x)  # kernel.cu:11


@partial(jax.jit, static_argnames="n")
def logistic_grad(growth, start, end, n):
    """Value and gradient of end with respect to growth and start."""

    def loss(growth, start):
        return jnp.sum(logistic(growth, start, end, n))

    return jax.value_and_grad(loss, argnums=(0, 1))(growth, start)


@partial(jax.jit, static_argnames="n")
def logistic_vjp(growth, start, end, n, end_bar):
    """Gradients with respect to growth and start, given the cotangent of end."""

    def primal(growth, start):
        return logistic(growth, start, end, n)

    _, pull = jax.vjp(primal, growth, start)
    return pull(end_bar)
