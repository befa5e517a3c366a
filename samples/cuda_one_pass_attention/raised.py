"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("keys", "grid", "block"))
def attend(query, key, value, out, keys, scale, *, grid=None, block=None):
    """One thread a query; the keys and the values come in tiles.

    out[t, d] = sum / total  for 0 <= t < threads, 0 <= d < 16

    a block has 16 threads along x
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block != 16:
        raise ValueError("attend: a block has 16 threads along x")
    threads = out.shape[0] // 16 if grid is None else grid * block
    query2 = query[: 16 * threads].reshape(threads, 16)
    key2 = key[: 256 * ((keys + 15) // 16)].reshape(16 * ((keys + 15) // 16), 16)
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        product = query2 @ key2.T * scale
    largest = jax.lax.stop_gradient(
        product.max(axis=1, initial=-jnp.inf)
    )  # kernel.cu:17
    exp = jnp.exp(product - largest[:, None])
    value2 = value[: 256 * ((keys + 15) // 16)].reshape(16 * ((keys + 15) // 16), 16)
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        out2 = exp @ value2 / exp.sum(axis=1, keepdims=True)  # kernel.cu:38
    return out.at[: 16 * threads].set(out2.ravel())


@partial(jax.jit, static_argnames=("n", "width"))
def attend_before(query, key, value, sum, logs, n, width):
    """The same where a query sees the keys before it and its own; width is no number here.

    sum[i, d] = sum / (sum_(j where j < i + 1) exp(sum_d_2 query[i, d_2] * key[j, d_2] - max(-1e+30,
        max_(j where j < i + 1)(sum_d_2 query[i, d_2] * key[j, d_2]))))
        for 0 <= i < n, 0 <= d < width
    logs[i] = largest + log(total)  for 0 <= i < n

    value must be finite everywhere
    """
    query2 = jnp.resize(query, (n, width))
    key2 = key[: n * width].reshape(n, width)
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        score = query2 @ key2.T  # kernel.cu:51
    below = jnp.tri(n, dtype=bool)
    largest = jnp.maximum(
        -1e30, jnp.max(jnp.where(below, score, -jnp.inf), axis=1, initial=-jnp.inf)
    )  # kernel.cu:49
    largest_2 = jax.lax.stop_gradient(largest)
    exp = jnp.exp(jnp.tril(score - largest_2[:, None]))
    value2 = value[: n * width].reshape(n, width)
    total = jnp.sum(jnp.tril(exp), axis=1)
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        sum2 = jnp.tril(exp) @ value2 / total[:, None]  # kernel.cu:66
    logs = logs.at[:n].set(largest_2 + jnp.log(total))  # kernel.cu:67
    sum = sum.at[: n * width].set(sum2.ravel())
    return sum, logs
