"""Hand-written twin of row_softmax."""

import jax
import jax.numpy as jnp


@jax.jit
def row_softmax(logits, probs):
    """Softmax of each row, shifted by the maximum for stability."""
    rows, cols = logits.shape
    e = jnp.exp(logits - logits.max(axis=1, keepdims=True))
    return probs.at[:rows, :cols].set(e / e.sum(axis=1, keepdims=True))
