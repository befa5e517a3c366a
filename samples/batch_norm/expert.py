"""Batch normalisation by hand; the factors in the source's order, whose products may be finite where others are not."""

import jax


@jax.jit
def batch_norm(x, gamma, beta, eps, out):
    axes = (0, 2, 3)
    inv = jax.lax.rsqrt(x.var(axes) + eps)
    centred = x - x.mean(axes, keepdims=True)
    return gamma[:, None, None] * centred * inv[:, None, None] + beta[:, None, None]


def large(rng):
    x, channels = rng.random((16, 32, 40, 40), "f"), rng.random((2, 32), "f")
    return {"batch_norm": {"x": x, "gamma": channels[0], "beta": channels[1], "eps": 0.01, "out": 0 * x}}
