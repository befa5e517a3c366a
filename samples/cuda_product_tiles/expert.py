"""A product in whole tiles by hand."""

from functools import partial

import jax


@partial(jax.jit, static_argnames=("wa", "wb"))
def product(c, a, b, wa, wb):
    return (a.reshape(-1, wa) @ b.reshape(wa, wb)).ravel()


def large(rng):
    h, wa, wb = 400, 480, 520
    c, a, b = (rng.random(n, "f") for n in (h * wb, h * wa, wa * wb))
    launch = {"grid": (wb // 4, h // 4), "block": (4, 4)}
    return {"product": {"c": c, "a": a, "b": b, "wa": wa, "wb": wb} | launch}
