"""Logarithms of sums of exponentials by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def empty_rows(out, x, scale, length):
    filled = jnp.arange(x.shape[1]) < length[:, None]
    some = length > 0
    total = jnp.where(filled, jnp.exp(jnp.where(filled, x, 0)), 0).sum(axis=1)
    return jnp.where(some, jnp.log(jnp.where(some, scale * total, 1)), 0)


def large(rng):
    x, (out, scale) = rng.random((5000, 60)), 0.5 + rng.random((2, 5000))
    return {"empty_rows": {"out": out, "x": x, "scale": scale, "length": rng.integers(0, 61, 5000).astype("int32")}}
