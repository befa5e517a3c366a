"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Whether a key is among others, and the search that ends at the first one.
"""

import jax
import jax.numpy as jnp


@jax.jit
def first_match(keys, wanted, hit):
    """hit[i] = 0  for 0 <= i < wanted.shape[0]
    hit[i] = 1  for 0 <= i < wanted.shape[0], where any_j(keys[j] == wanted[i])
    """
    n = wanted.shape[0]
    hit = hit.at[:n].set(0)  # kernel.py:10
    return hit.at[:n].set(
        jnp.where(jnp.any(keys == wanted[:, None], axis=1), 1, hit[:n])
    )  # kernel.py:13
