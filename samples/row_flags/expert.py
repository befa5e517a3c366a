"""Flags and counts of rows by hand."""

import jax


@jax.jit
def row_flags(a, limit, count, any_neg, all_small):
    return (a > limit).sum(axis=1, dtype=count.dtype), (a < 0).any(axis=1), (a < 2 * limit).all(axis=1)


def large(rng):
    n = 3000
    flags = {name: rng.random(n) > 0.5 for name in ("any_neg", "all_small")}
    given = {"a": rng.random((n, 400), "f") - 0.001, "limit": 0.4, "count": rng.integers(0, 9, n).astype("int32")}
    return {"row_flags": given | flags}
