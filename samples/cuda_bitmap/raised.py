"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def bitmap(key, present, parity, common, hits, n):
    """a set as bits, its members toggled in another one, the bits that all share, and how often each word was touched

    present[word] = or_(present[word], 1 << key[i] % 32)  for 0 <= i < n
    parity[word] = xor(parity[word], 1 << key[i] % 32)  for 0 <= i < n
    common[0] = common[0] & bitand_i(key[i])
    hits[word] += 1  for 0 <= i < n
    """
    bit = jnp.arange(32, dtype=jnp.uint32)
    named = jnp.zeros(32 * present.size, jnp.uint32).at[key[:n]].add(1).reshape(-1, 32)
    present = present | jnp.sum(
        (named > 0).astype(jnp.uint32) << bit, axis=-1, dtype=jnp.uint32
    )  # kernel.cu:7
    bit_2 = jnp.arange(32, dtype=jnp.uint32)
    named_2 = jnp.zeros(32 * parity.size, jnp.uint32).at[key[:n]].add(1).reshape(-1, 32)
    parity = parity ^ jnp.sum(
        (named_2 & 1).astype(jnp.uint32) << bit_2, axis=-1, dtype=jnp.uint32
    )  # kernel.cu:8
    common = common.at[0].set(
        common[0] & jnp.bitwise_and.reduce(key[:n])
    )  # kernel.cu:9
    named_3 = jnp.zeros(32 * hits.size, jnp.uint32).at[key[:n]].add(1).reshape(-1, 32)
    hits = hits + jnp.sum(named_3, axis=-1, dtype=hits.dtype)  # kernel.cu:10
    return present, parity, common, hits
