"""The range of windows, and where they are largest, by hand."""

import functools
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def window_extrema(signal, range, peak, n):
    up, down = (jnp.pad(signal[:n], 2, constant_values=fill) for fill in (jnp.inf, -jnp.inf))
    low = functools.reduce(jnp.minimum, [up[k : k + n] for k in (0, 1, 2, 3, 4)])
    windows = jnp.stack([down[k : k + n] for k in (0, 1, 2, 3, 4)])
    at = jnp.arange(n, dtype=peak.dtype) - 2 + windows.argmax(axis=0).astype(peak.dtype)
    return range.at[:n].set(windows.max(axis=0) - low), peak.at[:n].set(at)


def large(rng):
    n = 500_000
    given = {"signal": rng.random(n, "f"), "range": rng.random(n, "f"), "peak": rng.integers(0, 9, n).astype("int32")}
    return {"window_extrema": given | {"n": n - 3}}
