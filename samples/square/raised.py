"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Element-wise square, the smallest kernel there is.
"""

from functools import partial

import jax


@partial(jax.jit, static_argnames=("grid", "block"))
def square(y, x, *, grid=None, block=None):
    """y[i] = x[i] * x[i]  for 0 <= i < threads"""
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    threads = y.shape[0] if grid is None else grid * block
    return y.at[:threads].set(x[:threads] * x[:threads])  # kernel.py:9
