"""Conjugate gradients by hand: rounds after the last one change nothing."""

from functools import partial

import jax
import jax.numpy as jnp


def _product(row, col, val, n):
    i = jnp.repeat(jnp.arange(n), jnp.diff(row), total_repeat_length=col.size)
    return lambda x: jax.ops.segment_sum(val * x[col], i, n, indices_are_sorted=True)


@partial(jax.jit, static_argnames="n")
def spmv(row, col, val, x, y, n):
    return _product(row, col, val, n)(x)


@partial(jax.jit, static_argnames=("n", "max_iter"))
def solve(row, col, val, b, x, n, tol, max_iter):
    product = _product(row, col, val, n)
    r = b - product(x)

    def step(_, state):
        x, r, p, rho, k = state
        live = rho > tol * tol
        q = product(p)
        alpha = jnp.where(live, rho / jnp.where(live, p @ q, 1), 0)
        x, r = x + alpha * p, r - alpha * q
        new = jnp.where(live, r @ r, rho)
        beta = new / jnp.where(live, rho, 1)
        return x, r, jnp.where(live, r + beta * p, p), new, k + live

    x, _, _, _, k = jax.lax.fori_loop(0, max_iter, step, (x, r, r, r @ r, 0))
    return k, x


def large(rng):
    import numpy as np

    n = 20_000
    offsets = np.array([-100, -1, 0, 1, 100])
    col = (np.arange(n)[:, None] + offsets) % n
    val = np.where(offsets == 0, 4.1, -1.0) * np.ones((n, 1))
    matrix = {"row": 5 * np.arange(n + 1), "col": col.ravel()}
    matrix = {name: a.astype("int32") for name, a in matrix.items()} | {"val": val.astype("f").ravel()}
    x, y = rng.random((2, n), "f")
    return {
        "spmv": matrix | {"x": x, "y": y, "n": n},
        "solve": matrix | {"b": x, "x": 0 * y, "n": n, "tol": 1e-2, "max_iter": 8},
    }
