"""Logarithms, roots and reciprocals where they exist, by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def masked_log_sqrt(x, logs, roots, ratios, floor):
    some = x > 0
    v, w = jnp.where(some, x, 1), jnp.where(x != 0, x, 1)
    return jnp.where(some, jnp.log(v), floor), jnp.where(some, jnp.sqrt(v), 0), jnp.where(x != 0, 1.0 / w, floor)


def large(rng):
    x, logs, roots, ratios = rng.random((4, 300_000), "f")
    table = {"x": x - 0.5, "logs": logs, "roots": roots, "ratios": ratios, "floor": -10.0}
    return {"masked_log_sqrt": table}
