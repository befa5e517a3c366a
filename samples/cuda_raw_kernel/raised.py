"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("na", "nb", "dim"))
def squared_distances(a, b, out, na, nb, dim):
    """out[i, j] = sum_k (a[i, k] - b[j, k]) * (a[i, k] - b[j, k])  for 0 <= j < nb, 0 <= i < na"""
    a2 = a[: na * dim].reshape(na, dim)
    b2 = b[: nb * dim].reshape(nb, dim)
    d = a2[:, None] - b2  # kernel.py:13
    out2 = jnp.sum(d * d, axis=2)  # kernel.py:16
    return out.at[: na * nb].set(out2.ravel())
