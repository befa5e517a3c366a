"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def grid_stride_sum(x, w, result, n, *, grid, block):
    """every thread adds up its share; atomics add up the threads

    result[0] += sum_(i, 0 <= i_2 < (block * grid + n - 1) // (block * grid) where i_2 * block *
        grid + i < n) x[i_2 * block * grid + i] * w[i_2 * block * grid + i]
    """
    i_2 = jnp.arange((block * grid + n - 1) // (block * grid))
    threads = grid * block
    i = jnp.arange(threads)
    total = i_2 * block * grid + i[:, None]
    mask = total < n
    return result.at[0].add(
        jnp.sum(
            jnp.where(
                mask,
                jnp.where(mask, x[jnp.clip(total, 0, x.shape[0] - 1)], 0)
                * w[jnp.clip(total, 0, w.shape[0] - 1)],
                0.0,
            )
        )
    )  # kernel.cu:8
