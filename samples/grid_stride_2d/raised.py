"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax


@jax.jit
def grid_stride_2d(a, b, out):
    """Hadamard product with strides in both directions, spelled without cuda.grid.

    out[i, j] = a[i, j] * b[i, j]  for 0 <= j < cols, 0 <= i < rows
    """
    rows, cols = out.shape
    return (a[:rows, :cols] * b[:rows, :cols]).astype(out.dtype)  # kernel.py:14
