"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def option_expiry(price, s, k, t, vol, rate):
    """European call, also on the day it expires and where nothing moves.

    price[i] = max(s[i] - k[i], 0.0) if t[i] <= 0.0 else max(s[i] - k[i] * exp(-rate * t[i]), 0.0)
        if sq == 0.0 else s[i] * n1 - k[i] * exp(-rate * t[i]) * n2
        for 0 <= i < s.shape[0]
    """
    n = s.shape[0]
    below = t[:n] <= 0.0
    sq = vol[:n] * jnp.sqrt(jnp.where(below, 1, t[:n]))  # kernel.py:14
    both = ~below & (sq != 0.0)
    safe_sq = jnp.where(both, sq, 1)
    d1 = (
        jnp.log(jnp.where(both, s / jnp.where(both, k[:n], 1), 1))
        + (rate + 0.5 * vol[:n] * vol[:n]) * t[:n]
    ) / safe_sq  # kernel.py:18
    root = jnp.sqrt(2.0)
    n1 = 0.5 * jax.scipy.special.erfc(-d1 / root)  # kernel.py:20
    product = k[:n] * jnp.exp(jnp.where(below, 0, -rate * t[:n]))
    n2 = 0.5 * jax.scipy.special.erfc(-(d1 - sq) / root)
    return price.at[:n].set(
        jnp.where(
            below,
            jnp.maximum(s - k[:n], 0.0),
            jnp.where(both, s * n1 - product * n2, jnp.maximum(s - product, 0.0)),
        )
    )  # kernel.py:22
