"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("m", "n", "p"))
def tiled_matmul(a, b, c, m, n, p):
    """c = a b; the tiles of a block go through shared memory

    c[ty, tx] = sum_k a[ty, k] * b[k, tx]  for 0 <= tx < p, 0 <= ty < m

    a block has 4 threads along x
    a block has 4 threads along y
    """
    a = a.astype(jnp.result_type(a, jnp.float32))
    b = b.astype(jnp.result_type(b, jnp.float32))
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        return c.at[:m, :p].set(a[:m, :n] @ b[:n, :p])  # kernel.py:24
