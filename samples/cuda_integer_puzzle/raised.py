"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)  # kernel.cu uses 64 bits


@partial(jax.jit, static_argnames="n")
def integer_puzzle(a, b, u, quotient, shifted, mixed, wide, n):
    """C's integers: division toward zero, arithmetic and logical shifts, wrap-around, unsigned comparison

    quotient[i] = a[i] / b[i] * 1000 + a[i] % b[i]  for 0 <= i < n
    shifted[i] = a[i] >> 3 ^ u[i] >> 5 ^ b[i] << 2  for 0 <= i < n
    mixed[i] = h - a[i] if a[i] < h else ~h  for 0 <= i < n
    wide[i] = a[i] * b[i] - (a[i] & 255)  for 0 <= i < n
    """
    quotient = quotient.at[:n].set(
        jax.lax.div(a[:n], b[:n]) * 1000 + jax.lax.rem(a[:n], b[:n])
    )  # kernel.cu:6
    shifted = shifted.at[:n].set(
        a[:n] >> 3 ^ (u[:n] >> 5).astype(jnp.int32) ^ b[:n] << 2
    )  # kernel.cu:7
    h = u[:n] ^ u[:n] >> 16
    h_2 = h * jnp.uint32(2246822507)
    h_3 = h_2 << 13 | h_2 >> 19
    mixed = mixed.at[:n].set(
        jnp.where(a[:n].astype(jnp.uint32) < h_3, h_3 - a[:n].astype(jnp.uint32), ~h_3)
    )  # kernel.cu:11
    wide = wide.at[:n].set(
        a[:n].astype(jnp.int64) * b[:n].astype(jnp.int64)
        - (a[:n] & 255).astype(jnp.int64)
    )  # kernel.cu:12
    return quotient, shifted, mixed, wide
