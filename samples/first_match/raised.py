"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Whether a key is among others, and the search that ends at the first one.
"""

import jax
import jax.numpy as jnp


@jax.jit
def first_match(keys, wanted, hit):
    """hit[i] = 1 if any_j(keys[j] == wanted[i]) else 0  for 0 <= i < wanted.shape[0]"""
    return hit.at[: wanted.shape[0]].set(
        jnp.where(jnp.any(keys == wanted[:, None], axis=1), 1, 0)
    )  # kernel.py:13
