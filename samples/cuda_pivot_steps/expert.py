"""Steps of eliminations by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "p"))
def eliminate(multiplier, a, rhs, n, p):
    a, column = a.reshape(n, n), multiplier.reshape(n, n)[p + 1 :, p]
    a = a.at[p + 1 :, p:].add(-jnp.outer(column, a[p, p:]))
    return a.ravel(), rhs.at[p + 1 :].add(-column * rhs[p])


def large(rng):
    n = 1000
    table = {"multiplier": rng.random(n * n, "f"), "a": rng.random(n * n, "f"), "rhs": rng.random(n, "f")}
    return {"eliminate": table | {"n": n, "p": 100}}
