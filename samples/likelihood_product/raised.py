"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def likelihood_product(p, hits, out):
    """Likelihood of each row of Bernoulli outcomes: the product of p or 1 - p.

    out[i] = prod_j (p[i, j] if hits[i, j] == 1 else 1.0 - p[i, j])  for 0 <= i < p.shape[0]
    """
    rows, cols = p.shape
    return out.at[:rows].set(
        jnp.prod(jnp.where(hits[:rows, :cols] == 1, p, 1.0 - p), axis=1)
    )  # kernel.py:7
