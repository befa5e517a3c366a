"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax


@jax.jit
def sorted_rows(order, table, weight, out, total):
    """Rows go to their places, and each place's total is scaled; every place is given once.

    out[order[i], j] = weight[i] * table[i, j]  for 0 <= i < order.shape[0], 0 <= j < table.shape[1]
    total[order[i]] = 0.5 * total[order[i]] + weight[i]
        for 0 <= i < order.shape[0], 0 <= j < min(table.shape[1], 1), where 0 < min(table.shape[1], 1)

    order is injective (declared)
    """
    cols = table.shape[1]
    n = order.shape[0]
    out = out.at[order, :cols].set(
        weight[:n, None] * table[:n], unique_indices=True
    )  # kernel.py:9
    total = (
        total.at[order].set(0.5 * total[order] + weight[:n], unique_indices=True)
        if cols > 0
        else total
    )  # kernel.py:11
    return out, total
