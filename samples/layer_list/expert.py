"""A small network by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def layer(x, weights, bias, out):
    total = x @ weights + bias
    return jnp.maximum(total, 0.1 * total)


@jax.jit
def network(x, weights_1, bias_1, weights_2, bias_2):
    hidden = layer(x, weights_1, bias_1, None)
    scores = layer(hidden, weights_2, bias_2, None)
    return scores - scores.max(axis=1, keepdims=True), (hidden**2).mean() + (scores**2).mean()


def large(rng):
    x, w1, w2 = rng.random((500, 200), "f"), rng.random((200, 300), "f") - 0.5, rng.random((300, 40), "f") - 0.5
    hidden = rng.random((500, 300), "f")
    return {
        "layer": {"x": x, "weights": w1, "bias": w1[0], "out": hidden},
        "network": {"x": x, "weights_1": w1, "bias_1": w1[0], "weights_2": w2, "bias_2": w2[0]},
    }
