"""A dense layer and its loss by hand: what is column-major there has its axes the other way round here."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("rows", "columns"))
def bias_relu(h, bias, rows, columns):
    return jnp.maximum(h.reshape(columns, rows) + bias, 0).ravel()


@partial(jax.jit, static_argnames=("outputs", "inputs", "batch"))
def layer(W, x, b, target, h, outputs, inputs, batch):
    h = jnp.maximum(x.reshape(batch, inputs) @ W.reshape(outputs, inputs).T + b, 0).ravel()
    return jnp.mean((h - target) ** 2), h


def large(rng):
    outputs, inputs, batch = 256, 300, 400
    W, x, b, target = (rng.random(s, "f") - 0.5 for s in (outputs * inputs, inputs * batch, outputs, outputs * batch))
    sizes = {"outputs": outputs, "inputs": inputs, "batch": batch}
    return {
        "bias_relu": {"h": target, "bias": b, "rows": outputs, "columns": batch},
        "layer": {"W": W, "x": x, "b": b, "target": target, "h": target} | sizes,
    }
