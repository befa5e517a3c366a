"""Extrema of rows, and where, by hand."""

import jax


@jax.jit
def row_extrema(a, low, low_at, high, high_at):
    last = a.shape[1] - 1 - a[:, ::-1].argmax(axis=1)
    return a.min(axis=1), a.argmin(axis=1).astype(low_at.dtype), a.max(axis=1), last.astype(high_at.dtype)


def large(rng):
    n = 1000
    at = rng.integers(0, 9, n).astype("int32")
    given = {"low": rng.random(n, "f"), "low_at": at, "high": rng.random(n, "f"), "high_at": at}
    return {"row_extrema": {"a": rng.random((n, 1000), "f")} | given}
