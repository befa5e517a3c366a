"""Hand-written twin of square."""

from functools import partial

import jax


@partial(jax.jit, static_argnames=("grid", "block"))
def square(y, x, *, grid=None, block=None):
    """y[i] = x[i] * x[i]"""
    n = y.shape[0] if grid is None else grid * block
    return y.at[:n].set(x[:n] * x[:n])
