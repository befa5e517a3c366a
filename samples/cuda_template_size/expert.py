"""A product of matrices and a moving average by hand."""

from functools import partial

import jax


@partial(jax.jit, static_argnames=("rows", "inner", "cols"))
def product(a, b, c, rows, inner, cols):
    return (a.reshape(rows, inner) @ b.reshape(inner, cols)).ravel()


@partial(jax.jit, static_argnames=("n", "RADIUS"))
def smooth(x, y, n, *, RADIUS):
    width = 2 * RADIUS + 1
    inside = n - 2 * RADIUS
    total = sum(x[k : k + inside] for k in range(width))
    return y.at[RADIUS : n - RADIUS].set(total / width)


def large(rng):
    x = rng.random(2_000_000, "f")
    table = {"a": x[: 500 * 600], "b": x[: 600 * 700], "c": 0 * x[: 500 * 700], "rows": 500, "inner": 600, "cols": 700}
    launch = {"grid": (44, 32), "block": (16, 16), "TILE": 16}
    return {"product": table | launch, "smooth": {"x": x, "y": 0 * x, "n": 1_999_900, "RADIUS": 2}}
