"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Sweeps that use what they have just computed: in place along a rod, over a plate, and with a dense matrix.
"""

from functools import partial

import jax
import jax.numpy as jnp


def checkpointed_loop(start, stop, step, state):
    """``fori_loop`` in segments of sqrt(n) rounds that the gradient runs again, where all states are many."""
    rounds = max(stop - start, 0)
    if rounds * sum(map(jnp.size, jax.tree.leaves(state))) <= 2**24:
        return jax.lax.fori_loop(start, stop, step, state)
    size = max(int(rounds**0.5), 1)

    @jax.checkpoint
    def segment(k, state):
        first = start + k * size
        return jax.lax.fori_loop(0, size, lambda r, s: step(first + r, s), state)

    state = jax.lax.fori_loop(0, rounds // size, segment, state)
    return jax.lax.fori_loop(start + rounds // size * size, stop, step, state)


@partial(jax.jit, static_argnames="sweeps")
def rod(u, f, sweeps):
    """for s = 0 ... sweeps - 1:
        u_before = u[0]
        for i = 1 ... u.shape[0] - 1 - 1:
            u_out[i] = u_before = 0.5 * (u_before + u[i + 1] + f[i])
        u[i] = u_out[i]  for 1 <= i < u.shape[0] - 1

    the gradient keeps about 2 sqrt(rounds) states of the loop, where all would be many, and runs the rest again (--remat)
    """
    n = u.shape[0]
    if n < 3 or sweeps < 1:
        return u

    def step(_, u):
        def step_2(u_before, inputs):
            u_after, f_i = inputs
            u_new = 0.5 * (u_before + u_after + f_i)
            return jnp.asarray(u_new, u.dtype), u_new

        _, u_out = jax.lax.scan(step_2, u[0], (u[2:], f[1 : n - 1]))  # kernel.py:6
        return u.at[1:-1].set(u_out)  # kernel.py:7

    return checkpointed_loop(0, sweeps, step, u)  # kernel.py:5


@partial(jax.jit, static_argnames="sweeps")
def plate(u, f, sweeps):
    """for s = 0 ... sweeps - 1:
        for i = 1 ... rows - 1 - 1:
            u_before = u[i, 0]
            for j = 1 ... cols - 1 - 1:
                u_out[j] = u_before = 0.25 * (u[i - 1, j] + u[i + 1, j] + u_before + u[i, j + 1] +
                    f[i, j])
            u[i, j] = u_out[j]  for 1 <= j < cols - 1

    the gradient keeps about 2 sqrt(rounds) states of the loop, where all would be many, and runs the rest again (--remat)
    """
    rows, cols = u.shape
    if min(u.shape) < 3 or sweeps < 1:
        return u

    def step(_, u):
        def step_2(i, u):
            def step_3(u_before, inputs):
                u_j, u_j_2, u_after, f_j = inputs
                u_new = 0.25 * (u_j + u_j_2 + u_before + u_after + f_j)
                return jnp.asarray(u_new, u.dtype), u_new

            _, u_out = jax.lax.scan(
                step_3,
                u[i, 0],
                (u[i - 1, 1:-1], u[i + 1, 1:-1], u[i, 2:], f[i, 1 : cols - 1]),
            )  # kernel.py:14
            return u.at[i, 1:-1].set(u_out)  # kernel.py:15

        return jax.lax.fori_loop(1, rows - 1, step_2, u)  # kernel.py:13

    return checkpointed_loop(0, sweeps, step, u)  # kernel.py:12


@partial(jax.jit, static_argnames="sweeps")
def dense(A, b, x, sweeps):
    """for s = 0 ... sweeps - 1:
        for i = 0 ... n - 1:
            x[i] = (b[i] + sum_(j where j != i) -(A[i, j] * x[j])) / A[i, i]

    the gradient keeps about 2 sqrt(rounds) states of the loop, where all would be many, and runs the rest again (--remat)
    """
    n = A.shape[0]
    if min(sweeps, n) < 1:
        return x
    j = jnp.arange(n)

    def step(_, x):
        def step_2(x, inputs):
            i, rest, A_i = inputs
            mask = ~(j == i)
            rest_2 = rest + jnp.sum(
                jnp.where(mask, -(jnp.where(mask, A_i, 0) * x[:n]), 0)
            )  # kernel.py:23
            x = x.at[i].set(rest_2 / A[i, i])  # kernel.py:26
            return x, None

        x, _ = jax.lax.scan(step_2, x, (jnp.arange(n), b[:n], A[:, :n]))  # kernel.py:21
        return x

    return checkpointed_loop(0, sweeps, step, x)  # kernel.py:20
