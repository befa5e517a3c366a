"""An ensemble of populations by hand."""

from functools import partial

import jax

ROUNDS = 200


@partial(jax.jit, static_argnames="n")
def logistic(growth, start, end, n):
    rate = 0.05 * growth[:n]
    return end.at[:n].set(jax.lax.fori_loop(0, ROUNDS, lambda _, x: x + rate * x * (1.0 - x), start[:n]))
