"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

STATES = 4


def summed(term, *ranges, shape=None):
    """The sum of ``term(k, ...)`` over ranges: written out unless there are too many."""
    first, *others = ranges
    terms = len(first)
    for other in others:
        terms *= len(other)
    if not terms and shape is not None:
        return jnp.zeros(shape, int)

    def part(k):
        return summed(lambda *rest: term(k, *rest), *others) if others else term(k)

    if 0 < terms <= 128:
        return sum(part(k) for k in first)
    one = jax.eval_shape(part, first.start)
    axes = ",".join("abcdefgh"[: one.ndim])
    every = jnp.vectorize(part, signature=f"()->({axes})")
    return every(jnp.arange(first.start, first.stop)).sum(0, dtype=one.dtype)


def rounds_at_once(many):
    """How many rounds of a loop to unroll: a launch of a GPU costs more than a round, a CPU's cache prefers one."""
    return 1 if jax.default_backend() == "cpu" else many


@partial(jax.jit, static_argnames=("C", "T", "K", "grid", "block"))
def look_back(x, taps, bias, y, C, T, K, *, grid=None, block=None):
    """
    y[b, c, t] = bias[c] + sum_(k where k + t + 1 - K >= 0) taps[c, k] * x[b, c, k + t + 1 - K]
        for 0 <= t < T, 0 <= c < C, 0 <= b < grid.z
    """
    if grid is not None:
        grid = (*grid, 1, 1)[:3] if isinstance(grid, tuple) else (grid, 1, 1)
    if block is not None:
        block = (*block, 1, 1)[:3] if isinstance(block, tuple) else (block, 1, 1)
    if block is not None and grid[1] != C:
        raise ValueError("look_back: the launch must have C blocks along y")
    taps2 = taps[: C * K].reshape(C, K)
    blocks_z = y.shape[0] // (C * T) if grid is None else grid[2]
    x3 = jnp.pad(
        x[: blocks_z * C * T], (0, max(blocks_z * C * T - x.shape[0], 0))
    ).reshape(blocks_z, C, T)
    x_padded = jnp.pad(x3, ((0, 0), (0, 0), (max(K - 1, 0), 0)))

    def term(k):
        return taps2[:, k, None] * jax.lax.dynamic_slice_in_dim(
            x_padded, k + max(K - 1, 0) + 1 - K, T, 2
        )

    y3 = bias[:C, None] + summed(term, range(K), shape=(blocks_z, C, T))  # kernel.cu:12
    return y.at[: blocks_z * C * T].set(y3.ravel())


@partial(jax.jit, static_argnames=("T", "C"))
def carry_states(x, step, decay, in_, out, y, T, C):
    """h[c, n] = 0.0  for 0 <= c < C, 0 <= n < 4
    for t = 0 ... T - 1:
        y_out[c, t] = sum_(0 <= n < 4) (exp(-step[t, c] * decay[c, n]) * h[c, n] + step[t, c] *
            in[t, n] * x[t, c]) * out[t, n]
        h[c, n] = exp(-step[t, c] * decay[c, n]) * h[c, n] + step[t, c] * in[t, n] * x[t, c]
            for 0 <= c < C, 0 <= n < 4
    y[t, c] = y_out[c, t]  for 0 <= c < C, 0 <= t < T
    """
    h = jnp.zeros((C, STATES), step.dtype)  # kernel.cu:19
    step2 = step[: T * C].reshape(T, C)
    decay2 = decay[: 4 * C].reshape(C, 4)
    in2 = in_[: 4 * T].reshape(T, 4)
    x2 = x[: T * C].reshape(T, C)
    out2 = out[: 4 * T].reshape(T, 4)

    def step_2(h, inputs):
        d, in_t, x_t, out_t = inputs
        h_new = jnp.exp(-d[:, None] * decay2) * h + d[:, None] * in_t * x_t[:, None]
        h_2 = h_new  # kernel.cu:24
        with jax.default_matmul_precision("float32"):  # no TF32, no bfloat16
            return h_2, h_new @ out_t

    _, y_out = jax.lax.scan(
        jax.checkpoint(step_2, prevent_cse=False),
        h,
        (step2, in2, x2, out2),
        unroll=rounds_at_once(8),
    )  # kernel.cu:21
    y2 = y_out  # kernel.cu:27
    return y.at[: T * C].set(y2.ravel())
