"""Vectors with a stride and a leaky threshold by hand."""

from functools import partial

import jax


@partial(jax.jit, static_argnames=("n", "offx", "incx", "offy", "incy"))
def axpy(n, alpha, x, offx, incx, y, offy, incy):
    return y.at[offy : offy + n * incy : incy].add(alpha * x[offx : offx + n * incx : incx])


@partial(jax.jit, static_argnames="n")
def leaky(x, n):
    return x.at[:n].set(jax.nn.leaky_relu(x[:n], 0.1))


def large(rng):
    x, y = rng.random((2, 900_000), "f")
    return {
        "axpy": {"n": 299_990, "alpha": 1.5, "x": x, "offx": 1, "incx": 2, "y": y, "offy": 2, "incy": 3},
        "leaky": {"x": x - 0.5, "n": 899_990},
    }
