"""A product of square matrices by hand."""

from functools import partial

import jax


@partial(jax.jit, static_argnames="size")
def coarse_product(left, right, product, size):
    return (left.reshape(size, size) @ right.reshape(size, size)).ravel()


def large(rng):
    left, right, product = rng.random((3, 480 * 480), "f")
    launch = {"grid": (40, 120), "block": (4, 4)}
    return {"coarse_product": {"left": left, "right": right, "product": product, "size": 480} | launch}
