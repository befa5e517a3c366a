"""Rows smoothed by a filter by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="width")
def smooth_rows(out, in_, width, taps):
    padded = jnp.pad(in_.reshape(-1, width), ((0, 0), (3, 3)))
    return sum(taps[j] * padded[:, j : j + width] for j in range(7)).ravel()


def large(rng):
    x, out = rng.random((2, 600 * 800), "f")
    launch = {"grid": (50, 600), "block": 16}
    return {"smooth_rows": {"out": out, "in_": x, "width": 800, "taps": out[:7]} | launch}
