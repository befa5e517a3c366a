"""A set as bits by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def bitmap(key, present, parity, common, hits, n):
    key, words = key[:n], present.size
    count = jnp.bincount(key, length=32 * words).reshape(words, 32).astype(key.dtype)
    bit = jnp.arange(32, dtype=key.dtype)
    present = present | ((count > 0).astype(key.dtype) << bit).sum(axis=1, dtype=key.dtype)
    parity = parity ^ ((count & 1) << bit).sum(axis=1, dtype=key.dtype)
    common = common & jnp.bitwise_and.reduce(key)
    return present, parity, common, hits + count.sum(axis=1, dtype=key.dtype)


def large(rng):
    words = 1000
    given = {name: rng.integers(0, 1000, words).astype("uint32") for name in ("present", "parity", "hits")}
    key, common = rng.integers(0, 32 * words, 200_000).astype("uint32"), rng.integers(0, 9, 1).astype("uint32")
    return {"bitmap": given | {"key": key, "common": common, "n": 199_000}}
