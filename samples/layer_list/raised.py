"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

A small network: the activations of its layers are kept in a list.
"""

import jax
import jax.numpy as jnp


@jax.jit
def layer(x, weights, bias, out):
    """out[i, j] = max(total, 0.1 * total)  for 0 <= i < out.shape[0], 0 <= j < out.shape[1]"""
    rows, cols = out.shape
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        total = (
            bias[:cols]
            + x[:rows].astype(jnp.result_type(x, bias)) @ weights[: x.shape[1], :cols]
        )  # kernel.py:12
    return jnp.maximum(total, 0.1 * total).astype(out.dtype)  # kernel.py:14


@jax.jit
def network(x, weights_1, bias_1, weights_2, bias_2):
    out = jnp.zeros((x.shape[0], weights_1.shape[1]), jnp.float32)
    out = layer(x, weights_1, bias_1, out)  # kernel.py:23
    out_2 = jnp.zeros((x.shape[0], weights_2.shape[1]), jnp.float32)
    out_2 = layer(out, weights_2, bias_2, out_2)  # kernel.py:23
    penalty = 0.0 + jnp.mean(out**2)
    penalty = penalty + jnp.mean(out_2**2)
    result_1 = out_2 - jnp.max(out_2, axis=1, keepdims=True)
    return result_1, penalty
