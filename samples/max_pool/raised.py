"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Maximum over windows that do not overlap; rows and columns beyond the last whole window are left out.
"""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="k")
def max_pool(x, y, k):
    """
    y[n, i, j] = max_(a, b)(x[n, i * k + a, j * k + b])
        for 0 <= n < N, 0 <= i < H // k, 0 <= j < W // k
    """
    N, H, W = x.shape
    return y.at[:N, : H // k, : W // k].set(
        jnp.max(
            jnp.transpose(
                x[:, : H // k * k, : W // k * k].reshape(N, H // k, k, W // k, k),
                (0, 1, 3, 2, 4),
            ).reshape(N, H // k, W // k, k * k),
            axis=3,
        )
    )  # kernel.py:15
