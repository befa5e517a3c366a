"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Attention of every query to all keys, with one scratch row for the scores.
"""

import jax
import jax.numpy as jnp


@jax.jit
def attention(Q, K, V, out, scale):
    """
    out[i, c] = (sum_j exp(s * scale - mx) * V[j, c]) / (sum_j exp(s * scale - mx))
        for 0 <= i < n, 0 <= c < V.shape[1]
    """
    n, d = Q.shape
    m = K.shape[0]
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        product = (1.0 * Q) @ K[:, :d].T * scale
        mx = jax.lax.stop_gradient(product.max(axis=1))  # kernel.py:14
        exp = jnp.exp(product - mx[:, None])
        return out.at[:n, : V.shape[1]].set(
            exp @ V[:m] / exp.sum(axis=1, keepdims=True)
        )  # kernel.py:29
