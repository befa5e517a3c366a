"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax


@partial(jax.jit, static_argnames="n")
def grid_stride_sum(x, w, result, n):
    """every thread adds up its share; atomics add up the threads

    result[0] += sum_i x[i] * w[i]
    """
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        return result.at[0].add(x[:n] @ w[:n])  # kernel.cu:8
