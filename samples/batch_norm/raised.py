"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Batch normalisation over samples and pixels, channel by channel.
"""

import jax
import jax.numpy as jnp


@jax.jit
def batch_norm(x, gamma, beta, eps, out):
    """
    out[n, c, h, w] = gamma[c] * (x[n, c, h, w] - m) * inv + beta[c]
        for 0 <= c < C, 0 <= n < N, 0 <= h < H, 0 <= w < W
    """
    N, C, H, W = x.shape
    m = x.sum(axis=(0, 2, 3)) / (N * H * W)  # kernel.py:14
    difference = x - m[:, None, None]
    v = jnp.sum(difference**2, axis=(0, 2, 3)) / (N * H * W)  # kernel.py:20
    inv = 1.0 / jnp.sqrt(v + eps)
    return out.at[:N, :C, :H, :W].set(
        gamma[:C, None, None] * difference * inv[:, None, None] + beta[:C, None, None]
    )  # kernel.py:25
