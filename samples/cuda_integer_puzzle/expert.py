"""C's integers by hand."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@partial(jax.jit, static_argnames="n")
def integer_puzzle(a, b, u, quotient, shifted, mixed, wide, n):
    a, b, u = a[:n], b[:n], u[:n]
    h = (u ^ (u >> 16)) * jnp.uint32(0x85EBCA6B)
    h = (h << 13) | (h >> 19)
    results = (
        jax.lax.div(a, b) * 1000 + jax.lax.rem(a, b),
        (a >> 3) ^ (u >> 5).astype(jnp.int32) ^ (b << 2),
        jnp.where(a.astype(jnp.uint32) < h, h - a.astype(jnp.uint32), ~h),
        a.astype(jnp.int64) * b - (a & 0xFF),
    )
    return tuple(old.at[:n].set(new) for old, new in zip((quotient, shifted, mixed, wide), results))


def large(rng):
    n = 1_000_000
    a, b = rng.integers(-100_000, 100_000, n).astype("int32"), rng.integers(1, 60_000, n).astype("int32")
    u = rng.integers(0, 1 << 32, n, dtype="uint32")
    out = {"quotient": 0 * a, "shifted": 0 * a, "mixed": 0 * u, "wide": 0 * a.astype("int64")}
    return {"integer_puzzle": {"a": a, "b": np.where(a % 2, b, -b), "u": u, "n": n} | out}
