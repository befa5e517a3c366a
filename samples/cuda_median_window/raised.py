"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


def rounds_at_once(many):
    """How many rounds of a loop to unroll: a launch of a GPU costs more than a round, a CPU's cache prefers one."""
    return 1 if jax.default_backend() == "cpu" else many


def checkpointed_loop(start, stop, step, state, unroll=1):
    """``fori_loop`` whose rounds the gradient runs again; in segments of sqrt(n) rounds, where all states are many."""

    def kept(op, *values, **_):
        return op.name == "dot_general" and min(v.ndim for v in values) == 1

    step = jax.checkpoint(step, prevent_cse=False, policy=kept)
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


@partial(jax.jit, static_argnames=("w", "h"))
def median_cross(img, out, w, h):
    """
    out[y, x] = min(max(max(img[y, x + 1], (...)), min((...), (...))), min(max((...), (...)),
        max((...), (...))))
        for 1 <= x < w - 1, 1 <= y < h - 1
    """
    img2 = img[: h * w].reshape(h, w)
    v_3 = img2[1:-1, :-2]  # kernel.cu:10
    v_2 = img2[2:, 1:-1]  # kernel.cu:9
    v_1 = img2[1:-1, 1:-1]
    v_0 = img2[:-2, 1:-1]
    t = jnp.minimum(v_1, v_0)  # kernel.cu:15
    t_2 = jnp.minimum(v_2, t)
    v_1_2 = jnp.maximum(img2[1:-1, 2:], jnp.minimum(v_3, t_2))
    v_1_3 = jnp.maximum(v_3, t_2)
    v_1_4 = jnp.maximum(v_2, t)
    t_3 = jnp.maximum(v_1, v_0)  # kernel.cu:15
    v_1_5 = jnp.minimum(v_1_4, t_3)
    v_2_2 = jnp.maximum(v_1_2, jnp.minimum(v_1_3, v_1_5))
    v_2_3 = jnp.minimum(jnp.maximum(v_1_3, v_1_5), jnp.maximum(v_1_4, t_3))
    v_2_4 = jnp.minimum(v_2_2, v_2_3)
    out2 = out[: h * w].reshape(h, w)
    out2 = out2.at[1:-1, 1:-1].set(v_2_4)  # kernel.cu:19
    return out.at[: h * w].set(out2.ravel())


@partial(jax.jit, static_argnames=("rows", "n"))
def dot_rows(a, b, out, rows, n):
    """out[r] = sum_(0 <= u < 4 * (n // 4)) a[r, u] * b[u]  for 0 <= r < rows"""
    a2 = jnp.resize(a, (rows, n))
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        return out.at[:rows].set(
            a2[:, : 4 * (n // 4)] @ b[: 4 * (n // 4)]
        )  # kernel.cu:28


@partial(jax.jit, static_argnames=("steps", "n"))
def van_der_pol(start, end, mu, h, steps, n):
    """y_0, y_1 = start[2 * i], start[2 * i + 1]  for 0 <= i < n
    for s = 0 ... steps - 1:
        all at once:
            y_0 = y_0 + 0.5 * h * (y_1 + y_1 + h * (mu * (1.0 - y_0 * y_0) * y_1 - y_0))
            y_1 = y_1 + 0.5 * h * (mu * (1.0 - y_0 * y_0) * y_1 - y_0 + mu * (1.0 - t_0 * t_0) * t_1
                - t_0)
    end[2 * i] = y_0  for 0 <= i < n
    end[2 * i + 1] = y_1  for 0 <= i < n

    the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """

    def step(_, state):
        y_0, y_1 = state
        k1_1 = mu * (1.0 - y_0 * y_0) * y_1 - y_0  # kernel.cu:33
        t_1 = y_1 + h * k1_1  # kernel.cu:43
        y_0_2 = y_0 + 0.5 * h * (y_1 + t_1)  # kernel.cu:45
        t_0 = y_0 + h * y_1  # kernel.cu:43
        k2_1 = mu * (1.0 - t_0 * t_0) * t_1 - t_0  # kernel.cu:33
        y_1_2 = y_1 + 0.5 * h * (k1_1 + k2_1)  # kernel.cu:45
        return y_0_2, y_1_2

    y_0, y_1 = checkpointed_loop(
        0,
        steps,
        step,
        (start[: 2 * n : 2], start[1 : 2 * n + 1 : 2]),
        unroll=rounds_at_once(32),
    )  # kernel.cu:41
    return end.at[: 2 * n].set(jnp.stack((y_0, y_1), axis=1).ravel())  # kernel.cu:47
