"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("cols", "grid", "block"))
def softmax_rows(x, y, cols, *, grid=None, block=None):
    """one block a row: the exponentials are stored while they are summed

    y[r, c] = exp(x[r, c] - max_t_2(x[r, t_2])) / (sum_t_3 exp(x[r, t_3] - max_t_2(x[r, t_2])))
        for 0 <= r < grid, 0 <= c < cols

    block is a power of two (the tree reduction drops elements otherwise)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block & block - 1:
        raise ValueError("softmax_rows: block must be a power of two")
    blocks = y.shape[0] // cols if grid is None else grid
    x2 = x[: blocks * cols].reshape(blocks, cols)
    top = jax.lax.stop_gradient(x2.max(axis=1, initial=-jnp.inf))  # kernel.cu:15
    e = jnp.exp(x2 - top[:, None])  # kernel.cu:19
    y2 = e / e.sum(axis=1, keepdims=True)  # kernel.cu:29
    return y.at[: blocks * cols].set(y2.ravel())


@partial(jax.jit, static_argnames="n")
def cg_step(x, r, p, q, alpha, rr, n):
    """a step of conjugate gradients: what has just been stored is summed

    x[i] += alpha * p[i]  for 0 <= i < n
    r[i] += -(alpha * q[i])  for 0 <= i < n
    rr[0] += sum_i r[i] * r[i]
    """
    x = x.at[:n].add(alpha * p[:n])  # kernel.cu:36
    r_new = r[:n] - alpha * q[:n]
    r = r.at[:n].set(r_new)  # kernel.cu:37
    rr = rr.at[0].add(jnp.sum(r_new * r_new))  # kernel.cu:40
    return x, r, rr


@partial(jax.jit, static_argnames="n")
def clipped(x, y, peak, limit, n):
    """the largest magnitude, found through the bits of floats that are not negative, while a copy is clipped

    y[i] = min(max(x[i], -limit), limit)  for 0 <= i < n
    peak[0] = max(peak[0], max(0.0, max_i(abs(x[i]))))
    """
    y = y.at[:n].set(jnp.minimum(jnp.maximum(x[:n], -limit), limit))  # kernel.cu:47
    peak = peak.at[0].set(
        jnp.maximum(
            peak[0], jnp.maximum(0.0, jnp.max(jnp.abs(x[:n]))) if n > 0 else 0.0
        )
    )  # kernel.cu:50
    return y, peak
