"""Extrema and counts of ragged rows by hand; the starts count from 1."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@partial(jax.jit, static_argnames="buckets")
def bucket_max(starts, value, high, low, above, buckets, bound):
    rows = jnp.repeat(jnp.arange(buckets), jnp.diff(starts), total_repeat_length=value.size)
    most = jax.ops.segment_max(value, rows, buckets, indices_are_sorted=True)
    least = jax.ops.segment_min(value, rows, buckets, indices_are_sorted=True)
    count = jax.ops.segment_sum((value > bound).astype(above.dtype), rows, buckets, indices_are_sorted=True)
    return jnp.maximum(most, -1e30), jnp.minimum(least, 1e30), count


def large(rng):
    n, m = 20_000, 400_000
    starts = 1 + np.concatenate(([0], np.sort(rng.integers(0, m, n - 1)), [m])).astype("int32")
    out = {"high": rng.random(n, "f"), "low": rng.random(n, "f"), "above": rng.integers(0, 9, n).astype("int32")}
    return {"bucket_max": {"starts": starts, "value": rng.random(m, "f"), "buckets": n, "bound": 0.4} | out}
