"""Layers of a network by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("batch", "channels", "height", "width"))
def nchw_to_nhwc(batch, channels, height, width, in_, out):
    return in_.reshape(batch, channels, height, width).transpose(0, 2, 3, 1).ravel()


@partial(jax.jit, static_argnames=("n", "channels", "spatial"))
def normalise(n, x, mean, variance, channels, spatial):
    c = (jnp.arange(n) // spatial) % channels
    return x.at[:n].set((x[:n] - mean[c]) * jax.lax.rsqrt(variance + 1e-5)[c])


@partial(jax.jit, static_argnames=("n", "w", "h", "c"))
def reorganise(n, x, w, h, c, out):
    images = -(-n // (c * h * w))
    moved = x[: images * c * h * w].reshape(images, h, w, c).transpose(0, 3, 1, 2)
    return out.at[:n].set(moved.ravel()[:n])


def large(rng):
    batch, channels, height, width = 8, 16, 60, 70
    x, out = rng.random((2, batch * channels * height * width), "f")
    sizes = {"batch": batch, "channels": channels, "height": height, "width": width}
    table = {"mean": out[:channels], "variance": out[:channels], "channels": channels, "spatial": height * width}
    return {
        "nchw_to_nhwc": sizes | {"in_": x, "out": out},
        "normalise": {"n": x.size - 99, "x": x} | table,
        "reorganise": {"n": x.size - 99, "x": x, "w": width, "h": height, "c": channels, "out": out},
    }
