"""The first hit of each ray, and what is lost until then, by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def first_hit(starts, energy, depth, limit, where, lost):
    n, k = where.size, jnp.arange(energy.size)
    ray = jnp.searchsorted(starts, k, side="right") - 1
    none = energy.size
    first = jax.ops.segment_min(jnp.where(energy > limit, k, none), ray, n, indices_are_sorted=True)
    before = k < first[jnp.clip(ray, 0, n - 1)]
    loss = jax.ops.segment_sum(jnp.where(before, energy, 0), ray, n, indices_are_sorted=True)
    return jnp.where(first < none, first, -1).astype(where.dtype), loss * depth


def large(rng):
    import numpy as np

    n = 10_000
    starts = np.concatenate(([0], np.cumsum(rng.integers(0, 40, n)))).astype("int32")
    rays = {"depth": rng.random(n, "f"), "where": starts[:n], "lost": rng.random(n, "f")}
    return {"first_hit": rays | {"starts": starts, "energy": rng.random(starts[-1], "f"), "limit": 0.95}}
