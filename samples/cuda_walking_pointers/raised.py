"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("rows", "cols"))
def running_sum(in_, out, rows, cols):
    """Rows through pointers that walk along: a running sum, and a count down to the last element.

    out[r, c] = cumsum_c(in[r, c])  for 0 <= r < rows, 0 <= c < cols
    """
    in2 = in_[: rows * cols].reshape(rows, cols)
    out2 = jnp.cumsum(in2, axis=1)  # kernel.cu:10
    return out.at[: rows * cols].set(out2.ravel())


@partial(jax.jit, static_argnames=("n", "degree"))
def horner_down(coefficients, x, y, n, degree):
    """value = 0.0  for 0 <= i < n
    for k = 1 ... degree, from last to first:
        value = value * x[i] + coefficients[k - 1]
    y[i] = value  for 0 <= i < n
    """

    def step(value, coefficients_before):
        value_2 = value * x[:n] + coefficients_before  # kernel.cu:19
        return value_2, None

    value, _ = jax.lax.scan(
        jax.checkpoint(step, prevent_cse=False),
        jnp.zeros(n, x.dtype),
        coefficients[:degree],
        reverse=True,
        unroll=8,
    )  # kernel.cu:19
    return y.at[:n].set(value)  # kernel.cu:20


@partial(jax.jit, static_argnames=("n", "m"))
def mirrored(x, y, n, m):
    """y[i] = (sum_(0 <= a < max(0, m // 2)) x[a] * x[m - a - 1]) * i  for 0 <= i < n"""
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        return y.at[:n].set(
            x[: max(0, m // 2)]
            @ x[max(m - max(0, m // 2), 0) : m][::-1]
            * jnp.arange(n, dtype=jnp.float32)
        )  # kernel.cu:28
