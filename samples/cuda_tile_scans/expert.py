"""Running values within tiles, and a product, by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def tile_offsets(length, offset, n):
    rows = jnp.pad(length[:n], (0, -n % 16)).reshape(-1, 16)
    before = jnp.cumsum(rows, axis=1, dtype=length.dtype) - rows
    return offset.at[:n].set(before.ravel()[:n])


@partial(jax.jit, static_argnames="n")
def highest_so_far(level, crest, n):
    rows = jnp.pad(level[:n], (0, -n % 8)).reshape(-1, 8)
    return crest.at[:n].set(jax.lax.cummax(rows, axis=1).ravel()[:n])


@partial(jax.jit, static_argnames="n")
def likelihood(p, total, n):
    return total.at[0].multiply(p[:n].prod())


def large(rng):
    n = 1 << 18
    level, crest = rng.random((2, n), "f")
    length = rng.integers(0, 9, n).astype("int32")
    return {
        "tile_offsets": {"length": length, "offset": length, "n": n - 9},
        "highest_so_far": {"level": level, "crest": crest, "n": n - 9},
        "likelihood": {"p": 0.999 + 0.002 * level, "total": crest[:1], "n": n - 9},
    }
