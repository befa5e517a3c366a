"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def ping_pong_scan(g_odata, g_idata, n, *, grid, block):
    """scans of one block whose size is a parameter, in dynamic shared memory

    g_odata[thid] = cumsum_thid(g_idata[thid - 1] if thid > 0 else 0.0)  for 0 <= thid < block

    n is the number of threads of a block
    block is a power of two (so the source's tree takes all)
    """
    block = block[0] if isinstance(block, tuple) else block
    if n != block:
        raise ValueError("ping_pong_scan: n must be block")
    if block & block - 1:
        raise ValueError("ping_pong_scan: block must be a power of two")
    thid = jnp.arange(block)
    return g_odata.at[:block].set(
        jnp.cumsum(jnp.where(thid > 0, jnp.pad(g_idata, (1, block))[:block], 0.0))
    )  # kernel.cu:17


@partial(jax.jit, static_argnames=("n", "grid", "block", "shared"))
def prescan(g_odata, g_idata, n, *, grid, block, shared):
    """temp[t] = exclusive_cumsum_t(g_idata[t])  for 0 <= t < 2 * block
    g_odata[element] = temp[element]  for 0 <= element < 2 * block

    n is twice the number of threads of a block
    block is a power of two (so the source's tree takes all)
    """
    block = block[0] if isinstance(block, tuple) else block
    if n != 2 * block:
        raise ValueError("prescan: n must be twice block")
    if block & block - 1:
        raise ValueError("prescan: block must be a power of two")
    temp = jnp.pad(
        jnp.concatenate(
            (jnp.full((min(2 * block, 1),), 0.0), jnp.cumsum(g_idata[: 2 * block])[:-1])
        ),
        (0, shared - 2 * block),
    )  # kernel.cu:26
    return g_odata.at[: 2 * block].set(temp[: 2 * block])  # kernel.cu:48
