"""A bank of filters over a batch of pictures by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("batch", "channels", "height", "width", "filters", "taps"))
def correlate(in_, bank, offset, out, batch, channels, height, width, filters, taps):
    x, w = in_.reshape(batch, channels, height, width), bank.reshape(filters, channels, taps, taps)
    y = jax.lax.conv_general_dilated(x, w, (1, 1), "VALID")
    return jnp.maximum(y + offset[:, None, None], 0).ravel()


def large(rng):
    sizes = {"batch": 4, "channels": 8, "height": 60, "width": 70, "filters": 12, "taps": 3}
    x, w = rng.random(4 * 8 * 60 * 70, "f"), rng.random(12 * 8 * 9, "f") - 0.5
    out = rng.random(4 * 12 * 58 * 68, "f")
    return {"correlate": sizes | {"in_": x, "bank": w, "offset": rng.random(12, "f"), "out": out}}
