"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("batch", "channels", "height", "width"))
def nchw_to_nhwc(batch, channels, height, width, in_, out):
    """
    out[b, h, w, c] = in[b, c, h, w]
        for 0 <= b < batch, 0 <= c < channels, 0 <= h < height, 0 <= w < width
    """
    in4 = in_[: batch * channels * height * width].reshape(
        batch, channels, height, width
    )
    out4 = jnp.transpose(in4, (0, 2, 3, 1))  # kernel.cu:12
    return out.at[: batch * height * width * channels].set(out4.ravel())


@partial(jax.jit, static_argnames="n")
def normalise(n, x, mean, variance, channels, spatial):
    """the number of elements is a parameter of its own: it need not be a whole number of images

    x[index] = (x[index] - mean[index / spatial % channels]) /
        sqrt(variance[index / spatial % channels] + 1e-05)
        for 0 <= index < n
    """
    index = jnp.arange(n)
    tmod = jnp.fmod(jax.lax.div(index, jnp.asarray(spatial, index.dtype)), channels)
    return x.at[:n].set(
        (x[:n] - mean[tmod]) / jnp.sqrt(variance[tmod] + 1e-05)
    )  # kernel.cu:21


@partial(jax.jit, static_argnames="n")
def reorganise(n, x, w, h, c, out):
    """taken apart and put together again

    out[i] = x[i / (c * h * w) * c * h * w + i / w % h * c * w + i % w * c + i / (h * w) % c]
        for 0 <= i < n
    """
    i = jnp.arange(n)
    return out.at[:n].set(
        x[
            jax.lax.div(*jnp.broadcast_arrays(i, c * h * w)) * c * h * w
            + jnp.fmod(jax.lax.div(i, jnp.asarray(w, i.dtype)), h) * c * w
            + jnp.fmod(i, w) * c
            + jnp.fmod(jax.lax.div(*jnp.broadcast_arrays(i, h * w)), c)
        ]
    )  # kernel.cu:32
