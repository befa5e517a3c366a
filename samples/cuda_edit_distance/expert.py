"""Weighted edit distances of pairs by hand: a row of the table by a running minimum."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("m", "n", "pairs"))
def edit_distance(s, t, gap, row, out, m, n, pairs):
    s, t = s.reshape(pairs, m), t.reshape(pairs, n)
    ladder = jnp.arange(n + 1) * gap[:, None]

    def line(i, d):
        cost = (s[:, i, None] != t).astype(d.dtype)
        best = jnp.minimum(d[:, :-1] + cost, d[:, 1:] + gap[:, None])
        best = jnp.concatenate(((i + 1) * gap[:, None], best), axis=1)
        return ladder + jax.lax.cummin(best - ladder, axis=1)

    d = jax.lax.fori_loop(0, m, line, ladder)
    return d.ravel(), d[:, n]


def large(rng):
    m, n, pairs = 100, 120, 500
    texts = {"s": rng.integers(0, 3, m * pairs).astype("int8"), "t": rng.integers(0, 3, n * pairs).astype("int8")}
    floats = {
        "gap": 0.6 + 0.8 * rng.random(pairs, "f"),
        "row": rng.random(pairs * (n + 1), "f"),
        "out": rng.random(pairs, "f"),
    }
    return {"edit_distance": texts | floats | {"m": m, "n": n, "pairs": pairs}}
