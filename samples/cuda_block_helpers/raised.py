"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)  # kernel.cu uses 64 bits


@partial(jax.jit, static_argnames=("cols", "grid", "block"))
def absmax(x, out, cols, *, grid=None, block=None):
    """The largest magnitude of each row.

    out[block_x] = max(-3.4028234663852886e+38, max_t(abs(x[block_x, t])))  for 0 <= block_x < grid

    block is a multiple of 32 (whole warps)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block % 32:
        raise ValueError("absmax: block must be a multiple of 32")
    blocks = out.shape[0] if grid is None else grid
    x2 = x[: blocks * cols].reshape(blocks, cols)
    m = (
        jnp.maximum(-3.4028234663852886e38, jnp.max(jnp.abs(x2), axis=1))
        if cols > 0
        else jnp.full(blocks, -3.4028234663852886e38)
    )  # kernel.cu:7
    return out.at[:blocks].set(m)  # kernel.cu:34


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def largest(x, out, n, *, grid, block):
    """The largest of each block, or the smallest number that the idle lanes bring in.

    out[block_x] = max(max_t(x[block_x, t] if block_x * block + t < n else -1.0),
        -3.4028234663852886e+38) if block < 1024 else max_t(x[block_x, t] if block_x * block + t < n
        else -1.0)
        for 0 <= block_x < grid

    block is a multiple of 32 (whole warps)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block % 32:
        raise ValueError("largest: block must be a multiple of 32")
    count = min(n, x.shape[0], grid * block)
    x2 = jnp.pad(x[:count], (0, grid * block - count), constant_values=-1.0).reshape(
        grid, block
    )
    m = (
        jnp.maximum(x2.max(axis=1), -3.4028234663852886e38)
        if block < 1024
        else x2.max(axis=1)
    )  # kernel.cu:7
    return out.at[:grid].set(m)  # kernel.cu:41


@partial(jax.jit, static_argnames="size")
def rms_norm(o, x, w, size):
    """One vector over its root mean square: thread 0 leaves the factor for all.

    o[i] = w[i] * rsqrt((sum_t x[t] * x[t]) / size + 1e-05) * x[i]  for 0 <= i < size

    block is a multiple of 32 (whole warps)
    """
    return o.at[:size].set(
        w[:size]
        * (jax.lax.rsqrt(jnp.sum(x[:size] * x[:size]) / size + 1e-05) * x[:size])
    )  # kernel.cu:60


@partial(jax.jit, static_argnames="n")
def byte_counts(data, n, counts):
    """Bytes counted in shared memory; the number of bytes is longer than the counter.

    counts[data[thread_x]] += 1  for 0 <= thread_x < n
    """
    return counts.at[data[:n]].add(1)  # kernel.cu:71


@partial(jax.jit, static_argnames="n")
def pulls(p, acc, n):
    """All pairs, tile by tile, with zeros behind the last body.

    acc[i, 0] = sum_k (p[k, 0] - p[i, 0]) * p[k, 3] * rsqrt((...)) * rsqrt((...)) * rsqrt((...))
        for 0 <= i < n
    acc[i, 1] = sum_k (p[k, 1] - p[i, 1]) * p[k, 3] * rsqrt((...)) * rsqrt((...)) * rsqrt((...))
        for 0 <= i < n
    acc[i, 2] = sum_k (p[k, 2] - p[i, 2]) * p[k, 3] * rsqrt((...)) * rsqrt((...)) * rsqrt((...))
        for 0 <= i < n
    """
    difference = p[:n, 0] - p[:n, 0, None]
    difference_2 = p[:n, 1] - p[:n, 1, None]
    difference_3 = p[:n, 2] - p[:n, 2, None]
    rsqrt = jax.lax.rsqrt(
        difference * difference
        + difference_2 * difference_2
        + difference_3 * difference_3
        + 0.01
    )
    product = p[:n, 3] * rsqrt * rsqrt * rsqrt
    return acc.at[:n, :3].set(
        jnp.stack(
            (
                jnp.sum(difference * product, axis=1),
                jnp.sum(difference_2 * product, axis=1),
                jnp.sum(difference_3 * product, axis=1),
            ),
            axis=1,
        )
    )  # kernel.cu:98
