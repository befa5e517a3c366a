"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def row_softmax(logits, probs):
    """Softmax of each row, one thread a row, shifted by the maximum for stability.

    probs[r, c] = exp(logits[r, c] - top) / (sum_c_2 exp(logits[r, c_2] - max_c_2(logits[r, c_2])))
        for 0 <= r < logits.shape[0], 0 <= c < cols
    """
    rows, cols = logits.shape
    top = jax.lax.stop_gradient(logits.max(axis=1))  # kernel.py:13
    e = jnp.exp(logits - top[:, None])  # kernel.py:18
    return probs.at[:rows, :cols].set(e / e.sum(axis=1, keepdims=True))  # kernel.py:22
