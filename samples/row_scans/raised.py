"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Running sums and maxima within the rows of a ragged array.
"""

import jax
import jax.numpy as jnp


@jax.jit
def drawdown(starts, price, peak, fall, worst):
    """The peak so far, how far below it each price is, and the deepest fall of each series.

    peak[k] = max(0.0, row_cummax_k(price[k]))
        for 0 <= i < worst.shape[0], 0 <= k < min(min(price.shape[0], peak.shape[0]), fall.shape[0]), where k >= starts[i] and k < starts[i + 1]
    fall[k] = price[k] - max(0.0, row_cummax_k(price[k]))
        for 0 <= i < worst.shape[0], 0 <= k < min(min(price.shape[0], peak.shape[0]), fall.shape[0]), where k >= starts[i] and k < starts[i + 1]
    worst[i] = min(0.0, min_(starts[i] <= k < starts[i + 1])(price[k] - max(0.0,
        row_cummax_k(price[k]))))
        for 0 <= i < worst.shape[0]

    starts must not decrease
    """
    n = price.shape[0]
    m = peak.shape[0]
    fall_size = fall.shape[0]
    worst_size = worst.shape[0]
    length = min(n, m, fall_size)
    row = jnp.cumsum(jnp.bincount(starts[: worst_size + 1], length=length)) - 1
    both = (row >= 0) & (row < worst_size)
    first = jnp.zeros(length, bool).at[starts[: worst_size + 1]].set(True, mode="drop")

    def within_rows(before, entry):
        left, anew = before
        right, anew_2 = entry
        return jnp.where(anew_2, right, jnp.maximum(left, right)), anew | anew_2

    running, _ = jax.lax.associative_scan(
        within_rows,
        (jnp.where(first, jnp.maximum(0.0, price[:length]), price[:length]), first),
    )
    peak_new = running
    peak = peak.at[:length].set(
        jnp.where(both, peak_new, peak[:length])
    )  # kernel.py:15
    fall_new = price[:length] - peak_new
    fall = fall.at[:length].set(
        jnp.where(both, fall_new, fall[:length])
    )  # kernel.py:16
    row_min = jax.ops.segment_min(fall_new, row, worst_size, indices_are_sorted=True)
    worst = jnp.minimum(0.0, row_min).astype(worst.dtype)  # kernel.py:18
    return peak, fall, worst


@jax.jit
def offsets(starts, size, first):
    """Where each item of a row begins.

    first[k] = row_exclusive_cumsum_k(size[k])
        for 0 <= i < starts.shape[0] - 1, 0 <= k < min(size.shape[0], first.shape[0]), where k >= starts[i] and k < starts[i + 1]

    starts must not decrease
    """
    n = size.shape[0]
    m = first.shape[0]
    length = min(n, m)
    row = jnp.cumsum(jnp.bincount(starts, length=length)) - 1
    first_2 = jnp.zeros(length, bool).at[starts].set(True, mode="drop")

    def within_rows(before, entry):
        left, anew = before
        right, anew_2 = entry
        return jnp.where(anew_2, right, left + right), anew | anew_2

    running, _ = jax.lax.associative_scan(within_rows, (size[:length], first_2))
    return first.at[:length].set(
        jnp.where(
            (row >= 0) & (row < starts.shape[0] - 1),
            jnp.where(first_2, 0, jnp.roll(running, 1)),
            first[:length],
        )
    )  # kernel.py:28
