"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="buckets")
def bucket_max(starts, value, high, low, above, buckets, bound):
    """the largest and the smallest value of each bucket, and how many are above a bound; 1-based starts as in Fortran

    high[b] = max(-1e+30, max_(k where k >= starts[b] - 1 and k < starts[b + 1] - 1)(value[k]))
        for 0 <= b < buckets
    low[b] = min(1e+30, min_(k where k >= starts[b] - 1 and k < starts[b + 1] - 1)(value[k]))
        for 0 <= b < buckets
    above[b] = sum_(k where k >= starts[b] - 1 and k < starts[b + 1] - 1 and value[k] > bound) 1
        for 0 <= b < buckets

    starts must not decrease
    """
    row = jnp.cumsum(jnp.bincount(starts[: buckets + 1] - 1, length=value.shape[0])) - 1
    row_max = jax.ops.segment_max(value, row, buckets, indices_are_sorted=True)
    high = high.at[:buckets].set(jnp.maximum(-1e30, row_max))  # kernel.cu:13
    row_min = jax.ops.segment_min(value, row, buckets, indices_are_sorted=True)
    low = low.at[:buckets].set(jnp.minimum(1e30, row_min))  # kernel.cu:14
    count = jax.ops.segment_sum(
        jnp.where(value > bound, 1, 0), row, buckets, indices_are_sorted=True
    )  # kernel.cu:8
    above = above.at[:buckets].set(count)  # kernel.cu:15
    return high, low, above
