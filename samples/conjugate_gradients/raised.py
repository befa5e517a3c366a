"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Conjugate gradients: a host loop around a matrix product, dot products and vector updates.
"""

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


def checkpointed_while(start, stop, live, step, state):
    """``checkpointed_loop`` that ends once ``live(state)`` is false.

    A GPU is asked every 8 rounds: an answer takes longer than a small round.
    """

    def where(more, a, b):
        return jax.tree.map(lambda x, y: jnp.where(more, x, y), a, b)

    def together(r, first):
        state = step(r, first)
        for k in range(1, 8):
            more = live(state) & (r + k < stop)
            made = step(r + k * more, where(more, state, first))
            state = where(more, made, state)
        return state

    def again(rounds, r, state):
        return jax.lax.cond(live(state), rounds, lambda _, s: s, r, state)

    if jax.default_backend() == "cpu":
        return checkpointed_loop(start, stop, lambda r, s: again(step, r, s), state)
    groups = -((start - stop) // 8)
    return checkpointed_loop(
        0, groups, lambda g, s: again(together, start + 8 * g, s), state
    )


@jax.jit
def matvec(A, x, y):
    """y[i] = sum_j A[i, j] * x[j]  for 0 <= i < A.shape[0]"""
    rows, cols = A.shape
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        return y.at[:rows].set((1.0 * A) @ x[:cols])  # kernel.py:18


@jax.jit
def dot(a, b, out):
    """out[0] += sum_i a[i] * b[i]"""
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        return out.at[0].add(
            a.astype(jnp.result_type(a, out)) @ b[: a.shape[0]]
        )  # kernel.py:25


@jax.jit
def axpy(a, x, y):
    """y[i] += a * x[i]  for 0 <= i < x.shape[0]"""
    return y.at[: x.shape[0]].add(a * x)  # kernel.py:32


@jax.jit
def xpby(x, b, y):
    """y[i] = x[i] + b * y[i]  for 0 <= i < x.shape[0]"""
    n = x.shape[0]
    return y.at[:n].set(x + b * y[:n])  # kernel.py:39


@partial(jax.jit, static_argnames="iters")
def cg(A, b, x, iters):
    """the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    q = jnp.zeros_like(b)
    acc = jnp.zeros(1, jnp.float32)
    acc = dot(b, b, acc)  # kernel.py:52
    rs = acc[0]

    def going(state):
        _, _, _, live, _ = state
        return live

    def step(_, state):
        x, r, p, live, rs = state
        q_2 = matvec(A, p, q)  # kernel.py:55
        acc_2 = acc.at[0].set(0.0)
        acc_2 = dot(p, q_2, acc_2)  # kernel.py:57
        alpha = rs / acc_2[0]
        x = axpy(alpha, p, x)  # kernel.py:59
        r = axpy(-alpha, q_2, r)  # kernel.py:60
        acc_2 = acc_2.at[0].set(0.0)
        acc_2 = dot(r, r, acc_2)  # kernel.py:62
        rs_new = acc_2[0]
        live = ~(jnp.sqrt(rs_new) < 1e-06)

        def then(p, rs):
            p = xpby(r, rs_new / rs, p)  # kernel.py:66
            rs = rs_new
            return p, rs

        p, rs = jax.lax.cond(live, then, lambda p, rs: (p, rs), p, rs)  # kernel.py:64
        return x, r, p, live, rs

    x, _, _, _, _ = checkpointed_while(
        0, iters, going, step, (x, b, b, True, rs)
    )  # kernel.py:54
    return x
