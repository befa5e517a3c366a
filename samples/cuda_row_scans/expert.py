"""Cumulative distributions of ragged rows by hand: scans that begin again where a row does.

The rows need not fill the arrays: what lies before the first and behind the last one stays as it is.
"""

from functools import partial

import jax
import jax.numpy as jnp


def _running(values, begins, reverse=False):
    def join(left, right):
        (a, _), (b, anew) = left, right
        return jnp.where(anew, b, a + b), left[1] | anew

    return jax.lax.associative_scan(join, (values, begins), reverse=reverse)[0]


@partial(jax.jit, static_argnames="n")
def row_cdf(ptr, w, cdf, rest, total, n):
    start, end = ptr[:n], ptr[1 : n + 1]
    none = jnp.zeros(w.size, bool)
    begins = none.at[jnp.where(start < end, start, w.size)].set(True, mode="drop")
    ends = none.at[jnp.where(start < end, end - 1, w.size)].set(True, mode="drop")
    sums = _running(w * w, begins)
    whole = jnp.where(start < end, sums[end - 1], 0)
    k = jnp.arange(w.size)
    within = (k >= ptr[0]) & (k < ptr[n])
    after = 0.5 + jnp.where(ends, 0, jnp.roll(_running(w, ends, reverse=True), -1))  # less w would not be exact
    return jnp.where(within, sums, cdf), jnp.where(within, after, rest), total.at[:n].set(whole)


def large(rng):
    import numpy as np

    n = 10_000
    ptr = np.concatenate(([0], np.cumsum(rng.integers(0, 30, n)))).astype("int32")
    w, cdf, rest = rng.random((3, ptr[-1]), "f")
    return {"row_cdf": {"ptr": ptr, "w": w, "cdf": cdf, "rest": rest, "total": cdf[:n], "n": n}}
