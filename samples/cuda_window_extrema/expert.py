"""The range of windows, and where they are largest, by hand."""

import functools
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def window_extrema(signal, range, peak, n):
    """As the source, which takes no element of -1e30 or less for a peak: its window keeps -1e30 and the middle."""
    up, down = (jnp.pad(signal[:n], 2, constant_values=fill) for fill in (jnp.inf, -jnp.inf))
    low = functools.reduce(jnp.minimum, [up[k : k + n] for k in (0, 1, 2, 3, 4)])
    windows = jnp.stack([down[k : k + n] for k in (0, 1, 2, 3, 4)])
    high, i = windows.max(axis=0), jnp.arange(n, dtype=peak.dtype)
    at = jnp.where(high > -1e30, i - 2 + windows.argmax(axis=0).astype(peak.dtype), i)
    return range.at[:n].set(jnp.maximum(high, -1e30) - low), peak.at[:n].set(at)


def large(rng):
    n = 500_000
    given = {"signal": rng.random(n, "f"), "range": rng.random(n, "f"), "peak": rng.integers(0, 9, n).astype("int32")}
    return {"window_extrema": given | {"n": n - 3}}
