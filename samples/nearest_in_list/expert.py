"""The nearest of each point's candidates by hand."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def nearest_in_list(begin, cand, x, dist, who):
    n, m = x.size, cand.size
    rows = jnp.repeat(jnp.arange(n), jnp.diff(begin), total_repeat_length=m)
    d = jnp.abs(x[cand] - x[rows])
    best = jax.ops.segment_min(d, rows, n, indices_are_sorted=True)
    at = jnp.where(d == best[rows], jnp.arange(m), m)
    first = jax.ops.segment_min(at, rows, n, indices_are_sorted=True)
    return best, jnp.where(begin[1:] > begin[:-1], cand[first], -1)


def large(rng):
    n, m = 20_000, 400_000
    begin = np.concatenate(([0], np.sort(rng.integers(0, m, n - 1)), [m])).astype("int32")
    cand = rng.integers(0, n, m).astype("int32")
    return {
        "nearest_in_list": {
            "begin": begin,
            "cand": cand,
            "x": rng.random(n, "f"),
            "dist": rng.random(n, "f"),
            "who": cand[:n],
        }
    }
