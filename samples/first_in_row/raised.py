"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

The first entry of a ragged row that passes a test, and what comes before it.
"""

import jax
import jax.numpy as jnp


@jax.jit
def first_hit(starts, energy, depth, limit, where, lost):
    """Steps along each ray: which of them is the first beyond the limit, and what the ray loses until then.

    where[i] = min_(starts[i] <= k < starts[i + 1] where energy[k] > limit)(k) if min_(starts[i] <=
        k < starts[i + 1] where energy[k] > limit)(k) < starts[i + 1] else -1
        for 0 <= i < where.shape[0]
    lost[i] = sum_(starts[i] <= k < starts[i + 1] where k < min_(starts[i] <= k < starts[i + 1]
        where energy[k] > limit)(k)) energy[k] * depth[i]
        for 0 <= i < where.shape[0]

    starts must not decrease
    """
    n = energy.shape[0]
    m = where.shape[0]
    row = jnp.cumsum(jnp.bincount(starts[: m + 1], length=n)) - 1
    k = jnp.arange(n)
    row_min = jax.ops.segment_min(
        jnp.where(energy > limit, k, jnp.iinfo(jnp.int32).max),
        row,
        m,
        indices_are_sorted=True,
    )
    where = jnp.where(row_min < starts[1 : m + 1], row_min, -1).astype(
        where.dtype
    )  # kernel.py:14
    both = (row >= 0) & (row < m) & (k < row_min[row])
    totals = jax.ops.segment_sum(
        1.0 * jnp.where(both, jnp.where(both, energy, 0) * depth[row], 0),
        row,
        m,
        indices_are_sorted=True,
    )
    lost = lost.at[:m].set(totals)  # kernel.py:19
    return where, lost
