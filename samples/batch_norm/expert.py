"""Batch normalisation by hand."""

import jax


@jax.jit
def batch_norm(x, gamma, beta, eps, out):
    axes = (0, 2, 3)
    scale = gamma * jax.lax.rsqrt(x.var(axes) + eps)
    centred = x - x.mean(axes, keepdims=True)
    return centred * scale[:, None, None] + beta[:, None, None]


def large(rng):
    x, channels = rng.random((16, 32, 40, 40), "f"), rng.random((2, 32), "f")
    return {"batch_norm": {"x": x, "gamma": channels[0], "beta": channels[1], "eps": 0.01, "out": 0 * x}}
