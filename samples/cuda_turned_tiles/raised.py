"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax


@partial(jax.jit, static_argnames=("w", "h"))
def turned(out, in_, w, h, *, SIDE):
    """Transposes whose tile is the template's integer, which nothing in this file sets: rows of h, not of SIDE.

    out[y, x] = in[x, y]  for 0 <= y < w, 0 <= x < h

    a block has SIDE threads along x
    a block has SIDE threads along y
    """
    in2 = in_[: h * w].reshape(h, w)
    out2 = in2.T  # kernel.cu:11
    return out.at[: w * h].set(out2.ravel())
