"""A scaled product added to a matrix by hand."""

from functools import partial

import jax


@partial(jax.jit, static_argnames=("rows", "cols", "depth"))
def multiply(rows, cols, depth, alpha, a, b, beta, c):
    return alpha * (a.reshape(rows, depth) @ b.reshape(depth, cols)).ravel() + beta * c


product_by_columns = multiply


def large(rng):
    rows, cols, depth = 480, 512, 400
    a, b, c = (rng.random(n, "f") for n in (rows * depth, depth * cols, rows * cols))
    sizes = {"rows": rows, "cols": cols, "depth": depth, "alpha": 1.5, "beta": 0.5}
    launch = {"grid": (cols // 16, rows // 16), "block": 32}
    product = sizes | {"a": a, "b": b, "c": c}
    return {"product_by_columns": product | launch, "multiply": product}
