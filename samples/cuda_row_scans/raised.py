"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def row_cdf(ptr, w, cdf, rest, total, n):
    """cdf[k] = row_cumsum_k(w[k] * w[k])
        for 0 <= i < n, 0 <= k < min(w.shape[0], cdf.shape[0]), where k >= ptr[i] and k < ptr[i + 1]
    total[i] = sum_(ptr[i] <= k < ptr[i + 1]) w[k] * w[k]  for 0 <= i < n
    rest[k] = 0.5 + row_exclusive_reverse_cumsum_k(w[k])
        for 0 <= i < n, 0 <= k < min(w.shape[0], rest.shape[0]), where k <= ptr[i + 1] - 1 and k > ptr[i] - 1

    ptr must not decrease
    """
    m = w.shape[0]
    cdf_size = cdf.shape[0]
    rest_size = rest.shape[0]
    length = min(m, cdf_size)
    length_2 = min(m, rest_size)
    first = jnp.zeros(length, bool).at[ptr[: n + 1]].set(True, mode="drop")

    def within_rows(before, entry):
        left, anew = before
        right, anew_2 = entry
        return jnp.where(anew_2, right, left + right), anew | anew_2

    running, _ = jax.lax.associative_scan(within_rows, (w[:length] * w[:length], first))
    k = jnp.arange(length)
    both = (k >= ptr[0]) & (k < ptr[n])
    cdf = cdf.at[:length].set(jnp.where(both, running, cdf[:length]))  # kernel.cu:9
    totals = jnp.where(
        ptr[:n] < ptr[1 : n + 1], running.at[ptr[1 : n + 1] - 1].get(mode="clip"), 0.0
    )
    total = total.at[:n].set(totals)  # kernel.cu:11
    k_2 = jnp.arange(length_2)
    both_2 = (k_2 >= ptr[0]) & (k_2 < ptr[n])
    first_2 = jnp.zeros(length_2 + 1, bool).at[ptr[: n + 1]].set(True, mode="drop")[1:]

    def within_rows_2(before, entry):
        left, anew = before
        right, anew_2 = entry
        return jnp.where(anew_2, right, left + right), anew | anew_2

    running_2, _ = jax.lax.associative_scan(
        within_rows_2,
        (jnp.where(first_2, 0.5 + w[:length_2], w[:length_2]), first_2),
        reverse=True,
    )
    rest = rest.at[:length_2].set(
        jnp.where(
            both_2, jnp.where(first_2, 0.5, jnp.roll(running_2, -1)), rest[:length_2]
        )
    )  # kernel.cu:14
    return cdf, rest, total
