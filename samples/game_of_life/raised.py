"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

One generation on a torus: eight neighbours, without the cell itself.
"""

import jax
import jax.numpy as jnp


@jax.jit
def game_of_life(cur, nxt):
    """
    nxt[x, y] = 1 if cur[x, y] == 1 and (total == 2 or total == 3) or cur[x, y] == 0 and total == 3
        else 0
        for 0 <= x < h, 0 <= y < w
    """
    h, w = cur.shape
    total = (
        jnp.roll(jnp.roll(cur, 1, axis=0), 1, axis=1)
        + jnp.roll(cur, 1, axis=0)
        + jnp.roll(jnp.roll(cur, 1, axis=0), -1, axis=1)
        + jnp.roll(cur, 1, axis=1)
        + jnp.roll(cur, -1, axis=1)
        + jnp.roll(jnp.roll(cur, -1, axis=0), 1, axis=1)
        + jnp.roll(cur, -1, axis=0)
        + jnp.roll(jnp.roll(cur, -1, axis=0), -1, axis=1)
    )  # kernel.py:12
    equal = total == 3
    return nxt.at[:h, :w].set(
        jnp.where((cur == 1) & ((total == 2) | equal) | (cur == 0) & equal, 1, 0)
    )  # kernel.py:21
