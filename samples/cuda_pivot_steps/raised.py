"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "p"))
def eliminate(multiplier, a, rhs, n, p):
    """one step of an elimination: the rows below pivot p, by their multipliers, with unsigned guards

    a[row + p + 1, col + p] += -(multiplier[row + p + 1, p] * a[p, col + p])
        for 0 <= row < n - p - 1, 0 <= col < n - p
    rhs[row + p + 1] += sum_(0 <= col < min(n - p, 1)) -(multiplier[row + p + 1, col + p] * rhs[p])
        for 0 <= row < n - p - 1
    """
    if n - p - 1 < 0:
        raise ValueError(
            "eliminate: a subscript or a bound would be negative: n - p - 1 >= 0 must hold"
        )
    if p < 0:
        raise ValueError(
            "eliminate: a subscript or a bound would be negative: p >= 0 must hold"
        )
    multiplier2 = jnp.resize(multiplier, (n, n))
    a2 = jnp.resize(a, (max(n, p + 1), n))
    a2 = a2.at[p + 1 : n, p:].add(
        -(multiplier2[p + 1 :, p, None] * a2[p, p:])
    )  # kernel.cu:9
    rhs = rhs.at[p + 1 : n].add(
        rhs[p] * -jnp.sum(multiplier2[p + 1 :, p : max(min(n - p, 1) + p, 0)], axis=1)
    )  # kernel.cu:10
    a = a.at[: max(n, p + 1) * n].set(a2.ravel()[: a.size])
    return a, rhs


@partial(jax.jit, static_argnames=("n", "p"))
def update(a, n, p):
    """the same inside one matrix, whose rows may be longer than n

    a[i, j] += -(a[i, p] * a[p, j])  for max(0, p + 1) <= j < n, max(0, p + 1) <= i < n
    """
    if n > 16:
        raise ValueError("update: rows would overlap: n <= 16 must hold")
    if p < 0:
        raise ValueError(
            "update: a subscript or a bound would be negative: p >= 0 must hold"
        )
    a2 = jnp.resize(a, (max(n, p + 1), 16))
    a2 = a2.at[max(0, p + 1) : n, max(0, p + 1) : n].add(
        -(a2[max(0, p + 1) : n, p, None] * a2[p, max(0, p + 1) : n])
    )  # kernel.cu:17
    return a.at[: 16 * max(n, p + 1)].set(a2.ravel()[: a.size])


@partial(jax.jit, static_argnames=("n", "r"))
def sweep_row(below, x, diagonal, n, r):
    """a row from the row before it

    x[j + 16 * r] += -(x[j + 16 * r - 16] * below[j + 16 * r] / diagonal[j + 16 * r - 16])
        for 0 <= j < n
    diagonal[j + 16 * r] += -(below[j + 16 * r] * below[j + 16 * r] / diagonal[j + 16 * r - 16])
        for 0 <= j < n
    """
    if n > 16:
        raise ValueError("sweep_row: rows would overlap: n <= 16 must hold")
    below_at = below[16 * r : n + 16 * r]
    x = x.at[16 * r : n + 16 * r].add(
        -(
            x[max(16 * r - 16, 0) : max(n + 16 * r - 16, 0)]
            * below_at
            / diagonal[max(16 * r - 16, 0) : max(n + 16 * r - 16, 0)]
        )
    )  # kernel.cu:24
    diagonal = diagonal.at[16 * r : n + 16 * r].add(
        -(below_at * below_at / diagonal[max(16 * r - 16, 0) : max(n + 16 * r - 16, 0)])
    )  # kernel.cu:25
    return x, diagonal
