"""Scans of blocks and their totals by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def scan_and_total(in_, out, totals):
    rows = in_.reshape(-1, 128)
    sums = jnp.cumsum(rows, axis=1)
    return jnp.pad(sums[:, :-1], ((0, 0), (1, 0))).ravel(), sums[:, -1]


@jax.jit
def two_buffers(in_, out):
    return jnp.cumsum(in_.reshape(-1, 64), axis=1).ravel()


def large(rng):
    x, y = rng.random((2, 1 << 19), "f")
    return {
        "scan_and_total": {"in_": x, "out": y, "totals": y[: 1 << 12], "grid": 1 << 12, "block": 64},
        "two_buffers": {"in_": x, "out": y, "grid": 1 << 13, "block": 64},
    }
