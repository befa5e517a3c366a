"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

RADIUS = 2


@partial(jax.jit, static_argnames="n")
def halo_stencil(x, weight, y, n):
    """a filter over the block's cells and those beside it

    y[t] = sum_(0 <= k < 5) weight[k] * (x[k + t - 2] if k + t - 2 < n and k + t >= RADIUS else 0.0)
        for 0 <= t < n

    a block has 8 threads along x
    """
    m = x.shape[0]
    t = jnp.arange(n)
    return y.at[:n].set(
        weight[0]
        * jnp.where(
            (0 + t - 2 < n) & (0 + t >= RADIUS), x[jnp.clip(0 + t - 2, 0, m - 1)], 0.0
        )
        + weight[1]
        * jnp.where(
            (1 + t - 2 < n) & (1 + t >= RADIUS), x[jnp.clip(1 + t - 2, 0, m - 1)], 0.0
        )
        + weight[2]
        * jnp.where(
            (2 + t - 2 < n) & (2 + t >= RADIUS), x[jnp.clip(2 + t - 2, 0, m - 1)], 0.0
        )
        + weight[3]
        * jnp.where(
            (3 + t - 2 < n) & (3 + t >= RADIUS), x[jnp.clip(3 + t - 2, 0, m - 1)], 0.0
        )
        + weight[4]
        * jnp.where(
            (4 + t - 2 < n) & (4 + t >= RADIUS), x[jnp.clip(4 + t - 2, 0, m - 1)], 0.0
        )
    )  # kernel.py:22
