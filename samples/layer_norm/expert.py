"""Normalised rows by hand."""

import jax


@jax.jit
def layer_norm(x, gamma, beta, y):
    mean, var = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(var + 1e-5) * gamma + beta


def large(rng):
    x = rng.random((1000, 1000), "f")
    return {"layer_norm": {"x": x, "gamma": rng.random(1000, "f"), "beta": rng.random(1000, "f"), "y": 0 * x}}
