"""Attention by hand."""

import jax


@jax.jit
def attention(Q, K, V, out, scale):
    return jax.nn.softmax(scale * (Q @ K.T), axis=1) @ V


def large(rng):
    Q, K = rng.random((500, 64), "f"), rng.random((700, 64), "f")
    return {"attention": {"Q": Q, "K": K, "V": K[:, :32], "out": 0 * Q[:, :32], "scale": 0.5}}
