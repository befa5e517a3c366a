"""Binary searches by hand."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def bin_of(edges, x, bins):
    return jnp.searchsorted(edges, x, side="right").astype(bins.dtype)


@jax.jit
def interpolate(knots, values, x, y):
    left = jnp.clip(jnp.searchsorted(knots, x, side="right") - 1, 0, knots.size - 2)
    t = (x - knots[left]) / (knots[left + 1] - knots[left])
    return (1.0 - t) * values[left] + t * values[left + 1]


@jax.jit
def entry_at(starts, columns, values, rows, cols, found):
    end = starts[rows + 1]

    def step(_, ends):
        low, high = ends
        middle = (low + high) // 2
        less = (low < high) & (columns[middle] < cols)
        return jnp.where(less, middle + 1, low), jnp.where(less | (low >= high), high, middle)

    low, _ = jax.lax.fori_loop(0, columns.size.bit_length(), step, (starts[rows], end))
    return jnp.where((low < end) & (columns[low] == cols), values[low], 0)


def large(rng):
    n, m, q = 2000, 40_000, 100_000
    starts = np.concatenate(([0], np.sort(rng.integers(0, m, n - 1)), [m])).astype("int32")
    columns = np.sort(rng.integers(0, 100, m) + 100 * np.repeat(np.arange(n), np.diff(starts))) % 100
    knots, x = np.sort(rng.random(1000, "f")), 1.2 * rng.random(q, "f") - 0.1
    rows, cols = (rng.integers(0, k, q).astype("int32") for k in (n, 100))
    sparse = {
        "starts": starts,
        "columns": columns.astype("int32"),
        "values": rng.random(m, "f"),
        "rows": rows,
        "cols": cols,
    }
    return {
        "bin_of": {"edges": knots, "x": x, "bins": 0 * cols},
        "interpolate": {"knots": knots, "values": rng.random(1000, "f"), "x": x, "y": 0 * x},
        "entry_at": sparse | {"found": 0 * x},
    }
