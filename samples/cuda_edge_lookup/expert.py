"""Searches in rows, whole roots and cube roots by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="m")
def has_edge(row, col, from_, to, found, m):
    start, to = from_[:m], to[:m]
    end = row[start + 1]

    def halve(_, bounds):
        lo, hi = bounds
        mid = (lo + hi) // 2
        right = (lo < hi) & (col[mid] < to)
        return jnp.where(right, mid + 1, lo), jnp.where(right, hi, jnp.minimum(mid, hi))

    at, _ = jax.lax.fori_loop(0, col.size.bit_length(), halve, (row[start], end))
    return found.at[:m].set((at < end) & (col[at] == to))


@partial(jax.jit, static_argnames="n")
def whole_root(x, root, n):
    """The source's search: what it searches for has a closed form (a root of floats, corrected), which it does not
    say."""
    x = x[:n]

    def halve(_, bounds):
        lo, hi = bounds
        mid = (lo + hi + 1) >> 1
        good = mid <= jax.lax.div(x, jnp.maximum(mid, 1))  # an empty range's middle may be 0
        live = lo < hi
        return jnp.where(live & good, mid, lo), jnp.where(live & ~good, mid - 1, hi)

    lo, _ = jax.lax.fori_loop(0, 32, halve, (jnp.zeros_like(x), x // 2 + 1))
    return root.at[:n].set(lo)


@partial(jax.jit, static_argnames="n")
def cube_root(a, x, n):
    a = a[:n]

    def newton(_, state):
        y, live = state
        step = (y * y * y - a) / (3.0 * y * y)
        return jnp.where(live, y - step, y), live & (jnp.abs(step) >= 1e-6)

    y, _ = jax.lax.fori_loop(0, 20, newton, (jnp.ones_like(a), jnp.ones(n, bool)))
    return x.at[:n].set(y)


def large(rng):
    import numpy as np

    nodes, m = 10_000, 50_000
    row = np.append(np.arange(nodes) * 20, nodes * 20).astype("int32")
    col = np.sort(rng.integers(0, nodes, (nodes, 20)), axis=1).astype("int32").ravel()
    start, to, root = rng.integers(0, nodes, (3, m)).astype("int32")
    a = 0.5 + 8 * rng.random(m, "f")
    return {
        "has_edge": {"row": row, "col": col, "from_": start, "to": to, "found": root, "m": m},
        "whole_root": {"x": rng.integers(0, 2**31 - 200_000, m).astype("int32"), "root": root, "n": m},
        "cube_root": {"a": a, "x": a, "n": m},
    }
