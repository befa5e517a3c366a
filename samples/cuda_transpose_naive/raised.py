"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax


@partial(jax.jit, static_argnames=("cols", "rows"))
def transpose_naive(out, in_, cols, rows):
    """out (cols x rows) = in^T (rows x cols)

    out[x, y] = in[y, x]  for 0 <= x < cols, 0 <= y < rows
    """
    in2 = in_[: rows * cols].reshape(rows, cols)
    out2 = in2.T  # kernel.cu:5
    return out.at[: cols * rows].set(out2.ravel())
