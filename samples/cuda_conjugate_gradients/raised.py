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


@partial(jax.jit, static_argnames="n")
def spmv_once(row, col, val, n):
    """What spmv makes of arrays that a loop leaves alone."""
    m = col.shape[0]
    val_size = val.shape[0]
    length = min(m, val_size)
    return jnp.cumsum(jnp.bincount(row[: n + 1], length=length)) - 1


@partial(jax.jit, static_argnames="n")
def spmv_round(row_2, col, val, x, y, n):
    """spmv, of what spmv_once made."""
    m = col.shape[0]
    val_size = val.shape[0]
    length = min(m, val_size)
    inside = (row_2 >= 0) & (row_2 < n)
    sum = jax.ops.segment_sum(
        jnp.where(inside, val[:length], 0.0) * x[col[:length]],
        row_2,
        n,
        indices_are_sorted=True,
    )  # kernel.cu:17
    return y.at[:n].set(sum)  # kernel.cu:18


@partial(jax.jit, static_argnames="n")
def spmv(row, col, val, x, y, n):
    """y[i] = sum_(row[i] <= e < row[i + 1]) val[e] * x[col[e]]  for 0 <= i < n

    row must not decrease
    """
    row_2 = spmv_once(row, col, val, n)
    return spmv_round(row_2, col, val, x, y, n)


@partial(jax.jit, static_argnames=("n", "max_iter"))
def solve(row, col, val, b, x, n, tol, max_iter):
    """the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    q = jnp.zeros(n, val.dtype)
    r = b[:n]
    q = spmv(row, col, val, x, q, n)  # kernel.cu:33
    r = r - q  # kernel.cu:34
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        rho = r @ r  # kernel.cu:37
    row_2 = spmv_once(row, col, val, n)

    def live(state):
        _, _, _, _, rho = state
        return rho > tol * tol

    def step(_, state):
        x, r, p, k, rho = state
        q_2 = spmv_round(row_2, col, val, p, q, n)  # kernel.cu:40
        before = rho
        with jax.default_matmul_precision("float32"):  # no TF32, no bfloat16
            pq = p @ q_2  # kernel.cu:42
        alpha = rho / pq
        back = -alpha
        x = x.at[:n].set(alpha * p + x[:n])  # kernel.cu:44
        r = back * q_2 + r  # kernel.cu:45
        with jax.default_matmul_precision("float32"):  # no TF32, no bfloat16
            rho = r @ r  # kernel.cu:46
        beta = rho / before
        p = beta * p  # kernel.cu:48
        p = r + p  # kernel.cu:49
        k = k + 1
        return x, r, p, k, rho

    x, _, _, k, _ = checkpointed_while(
        0, max_iter, live, step, (x, r, r, 0, rho)
    )  # kernel.cu:39
    return k, x
