"""Drawn outcomes by hand."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@partial(jax.jit, static_argnames=("n", "draws"))
def draw(cdf, u, outcome, n, draws):
    return outcome.at[:draws].set(jnp.searchsorted(cdf[:n], u[:draws]).astype(outcome.dtype))


def large(rng):
    u = rng.random(200_000, "f")
    return {"draw": {"cdf": np.sort(u[:1000]), "u": u, "outcome": 0 * u.astype("int32"), "n": 1000, "draws": 199_000}}
