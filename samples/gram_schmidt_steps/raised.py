"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Orthonormal columns by the modified Gram-Schmidt method, a launch for each step of each column.
"""

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


@jax.jit
def norms(a, r, k):
    """The length of column k.

    r[k, k] = sqrt(sum_i a[i, k] * a[i, k])
    """
    return r.at[k, k].set(jnp.sqrt(jnp.sum(a[:, k] * a[:, k])))  # kernel.py:15


@jax.jit
def scale(a, q, r, k):
    """q[i, k] = a[i, k] / r[k, k]  for 0 <= i < a.shape[0]"""
    return q.at[: a.shape[0], k].set(a[:, k] / r[k, k])  # kernel.py:22


@jax.jit
def project(a, q, r, k):
    """Takes column k out of the columns behind it.

    r[k, j] = sum_i q[i, k] * a[i, j]  for 0 <= j < a.shape[1], where j > k
    a[i, j] += -(q[i, k] * sum_i q[i, k] * a[i, j])
        for 0 <= j < a.shape[1], 0 <= i < a.shape[0], where j > k

    0 <= k < a.shape[1], as in the loop that launches it
    """
    rows, cols = a.shape
    j = jnp.arange(cols)
    above = j > k
    q_here = q[:rows, k]
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        s = (1.0 * q_here) @ a  # kernel.py:31
    r = r.at[k, :cols].set(jnp.where(above, s, r[k, :cols]))  # kernel.py:33
    a = (a + jnp.where(above, -(q_here[:, None] * s), 0)).astype(
        a.dtype
    )  # kernel.py:35
    return a, r


@jax.jit
def gram_schmidt(a):
    """the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    m = a.shape[0]
    n = a.shape[1]
    d_q = jnp.zeros((m, n), jnp.float32)
    d_r = jnp.zeros((n, n), jnp.float32)

    def step(k, state):
        d_a, d_q, d_r = state
        d_r = norms(d_a, d_r, k)  # kernel.py:44
        d_q = scale(d_a, d_q, d_r, k)  # kernel.py:45
        d_a, d_r = project(d_a, d_q, d_r, k)  # kernel.py:46
        return d_a, d_q, d_r

    _, d_q, d_r = checkpointed_loop(0, n, step, (a, d_q, d_r))  # kernel.py:43
    return d_q, d_r
