"""Running sums, a polynomial and a mirrored product by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("rows", "cols"))
def running_sum(in_, out, rows, cols):
    return jnp.cumsum(in_.reshape(rows, cols), axis=1).ravel()


@partial(jax.jit, static_argnames=("n", "degree"))
def horner_down(coefficients, x, y, n, degree):
    return y.at[:n].set(jnp.polyval(coefficients[:degree][::-1], x[:n], unroll=16))


@partial(jax.jit, static_argnames=("n", "m"))
def mirrored(x, y, n, m):
    half = m // 2
    return y.at[:n].set(x[:half] @ x[m - half : m][::-1] * jnp.arange(n, dtype=x.dtype))


def large(rng):
    x, y = rng.random((2, 500_000), "f")
    return {
        "running_sum": {"in_": x, "out": y, "rows": 1000, "cols": 500},
        "horner_down": {"coefficients": y[:12], "x": x, "y": y, "n": x.size - 9, "degree": 12},
        "mirrored": {"x": x, "y": y, "n": y.size - 9, "m": x.size - 7},
    }
