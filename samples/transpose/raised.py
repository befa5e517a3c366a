"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax


@jax.jit
def transpose(a, a_t):
    """Plain transposition, one thread an element of the source.

    a_t[c, r] = a[r, c]  for 0 <= r < a.shape[0], 0 <= c < a.shape[1]
    """
    rows, cols = a.shape
    return a_t.at[:cols, :rows].set(a.T)  # kernel.py:10
