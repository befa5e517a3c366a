"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def halo_stencil(x, weight, y, n):
    """a filter over the block's cells and those beside it

    y[t] = sum_(0 <= k < 5) weight[k] * (x[k + t - 2] if k + t - 2 < n and k + t >= RADIUS else 0.0)
        for 0 <= t < n

    a block has 8 threads along x
    """
    if n < 1:
        return y
    x = x.astype(jnp.result_type(x, jnp.float32))
    x_padded = jnp.pad(x[:n], 2)
    acc = (
        weight[0] * x_padded[:-4]
        + weight[1] * x_padded[1:-3]
        + weight[2] * x_padded[2:-2]
        + weight[3] * x_padded[3:-1]
        + weight[4] * x_padded[4:]
    )  # kernel.py:20
    return y.at[:n].set(acc)  # kernel.py:22
