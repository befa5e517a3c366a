"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax


@jax.jit
def reverse_interleave(a, b, out):
    """Even elements come from ``a`` read backwards, odd ones from every third element of ``b``.

    out[2 * i] = a[n - i - 1]  for 0 <= i < n
    out[2 * i + 1] = b[3 * i + 1]  for 0 <= i < n
    """
    n = a.shape[0]
    out = out.at[: 2 * n : 2].set(a[::-1])  # kernel.py:10
    return out.at[1 : 2 * n + 1 : 2].set(b[1 : 3 * n + 1 : 3])  # kernel.py:11
