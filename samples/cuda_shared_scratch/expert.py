"""Rows brought to mean 0 and variance 1, by hand."""

from functools import partial

import jax


@partial(jax.jit, static_argnames="d")
def normalized(y, x, gain, shift, d, eps):
    rows = x.reshape(-1, d)
    z = rows - rows.mean(axis=1, keepdims=True)
    scale = jax.lax.rsqrt((z * z).mean(axis=1, keepdims=True) + eps)
    return (z * scale * gain + shift).ravel()


def large(rng):
    x, y = rng.random((2, 1000 * 512), "f")
    rows = {"y": y, "x": x, "gain": y[:512], "shift": x[:512], "d": 512, "eps": 0.01}
    return {"normalized": rows | {"grid": 1000, "block": 128}}
