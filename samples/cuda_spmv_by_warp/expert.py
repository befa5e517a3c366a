"""A sparse product and normalised rows by hand."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@partial(jax.jit, static_argnames="rows")
def spmv_by_warp(first, column, weight, x, y, rows):
    row = jnp.repeat(jnp.arange(rows), jnp.diff(first), total_repeat_length=weight.size)
    return jax.ops.segment_sum(weight * x[column], row, rows, indices_are_sorted=True)


@partial(jax.jit, static_argnames=("rows", "channels"))
def normalised_rows(x, gain, bias, y, centre, rows, channels):
    x = x.reshape(rows, channels)
    mean, square = x.mean(axis=1), x.var(axis=1)
    scale = jax.lax.rsqrt(square + 1e-5)
    return (gain * (x - mean[:, None]) * scale[:, None] + bias).ravel(), mean


def large(rng):
    n, m = 20_000, 400_000
    first = np.concatenate(([0], np.sort(rng.integers(0, m, n - 1)), [m])).astype("int32")
    column = rng.integers(0, n, m).astype("int32")
    sparse = {
        "first": first,
        "column": column,
        "weight": rng.random(m),
        "x": rng.random(n),
        "y": rng.random(n),
        "rows": n,
    }
    dense = {name: rng.random(size) for name, size in dict(x=m, gain=400, bias=400, y=m, centre=1000).items()}
    launch = {"grid": n // 3 + 1, "block": 96}
    return {"spmv_by_warp": sparse | launch, "normalised_rows": dense | {"rows": 1000, "channels": 400} | launch}
