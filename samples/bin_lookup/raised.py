"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Binary searches: the bin of a number, a rank among others, a value between two knots.
"""

import jax
import jax.numpy as jnp


@jax.jit
def bin_of(edges, x, bins):
    """The bin of each number: how many edges are not greater.

    bins[i] = first_k(edges[k] > x[i])  for 0 <= i < x.shape[0]

    edges must be sorted, with no NaN in it nor in what is looked up
    """
    return bins.at[: x.shape[0]].set(
        jnp.searchsorted(edges, x, side="right")
    )  # kernel.py:20


@jax.jit
def interpolate(knots, values, x, y):
    """Values between knots, on straight lines.

    y[i] = (1.0 - t) * values[left - 1 if 1 < knots.shape[0] - 1 else 0] + t * values[left if 1 <
        knots.shape[0] - 1 else knots.shape[0] - 1]
        for 0 <= i < x.shape[0]

    knots must be sorted, with no NaN in it nor in what is looked up
    """
    n = knots.shape[0]
    left = jnp.searchsorted(knots[1:-1], x, side="right") + 1  # kernel.py:30
    choice = jnp.where(1 < n - 1, left - 1, 0)
    knots_at = knots[choice]
    choice_2 = jnp.where(1 < n - 1, left, n - 1)
    t = (x - knots_at) / (knots[choice_2] - knots_at)  # kernel.py:36
    return y.at[: x.shape[0]].set(
        (1.0 - t) * values[choice] + t * values[choice_2]
    )  # kernel.py:37


@jax.jit
def entry_at(starts, columns, values, rows, cols, found):
    """Entries of a sparse matrix: each row's columns are in order, the array of all is not.

    low, high = starts[rows[i]], starts[rows[i] + 1]  for 0 <= i < found.shape[0]
    for round = 0 ... bit_length(columns.shape[0]) - 1:
        all at once:
            low = (low + high) // 2 + 1 if low < high and columns[(low + high) // 2] < cols[i] else low
            high = (low + high) // 2 if low < high and not columns[(low + high) // 2] < cols[i] else
                high
    found[i] = values[low] if low < starts[rows[i] + 1] and columns[low] == cols[i] else 0.0
        for 0 <= i < found.shape[0]

    starts must lie between 0 and columns.shape[0]
    """
    n = found.shape[0]
    m = columns.shape[0]
    end = starts.at[(rows[:n] + 1).astype(int)].get(mode="clip")  # kernel.py:46
    some_columns = jnp.resize(columns, max(m, 1))

    def step(_, state):
        low, high = state
        below = low < high
        middle = (low + high) // 2  # kernel.py:49
        below_2 = some_columns.at[middle].get(mode="clip") < cols[:n]
        return (
            jnp.where(below & below_2, middle + 1, low),
            jnp.where(below & ~below_2, middle, high),
        )

    low, _ = jax.lax.fori_loop(
        0, m.bit_length(), step, (starts[rows[:n]].astype(int), end.astype(int))
    )  # kernel.py:48
    some_values = jnp.resize(values, max(values.shape[0], 1))
    return jnp.where(
        (low < end) & (some_columns.at[low].get(mode="clip") == cols[:n]),
        some_values.at[low].get(mode="clip"),
        0.0,
    ).astype(found.dtype)  # kernel.py:56
