"""Vectors with a stride and a leaky threshold by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def axpy(n, alpha, x, offx, incx, y, offy, incy):
    """Offsets and increments are arguments, as in the source: slices would be compiled anew for each."""
    i = jnp.arange(n)
    return y.at[i * incy + offy].add(alpha * x[i * incx + offx])


@partial(jax.jit, static_argnames="n")
def leaky(x, n):
    return x.at[:n].set(jax.nn.leaky_relu(x[:n], 0.1))


def large(rng):
    x, y = rng.random((2, 900_000), "f")
    return {
        "axpy": {"n": 299_990, "alpha": 1.5, "x": x, "offx": 1, "incx": 2, "y": y, "offy": 2, "incy": 3},
        "leaky": {"x": x - 0.5, "n": 899_990},
    }
