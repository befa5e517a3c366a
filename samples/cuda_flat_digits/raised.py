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


@partial(jax.jit, static_argnames=("n", "channels", "spatial"))
def normalise(n, x, mean, variance, channels, spatial):
    """the number of elements is a parameter of its own: it need not be a whole number of images

    x[index] = (x[index] - mean[index / spatial % channels]) /
        sqrt(variance[index / spatial % channels] + 1e-05)
        for 0 <= index < n
    """
    return x.at[:n].set(
        (x[:n] - jnp.resize(jnp.repeat(mean[:channels], spatial), n))
        / jnp.sqrt(jnp.resize(jnp.repeat(variance[:channels], spatial), n) + 1e-05)
    )  # kernel.cu:21


@partial(jax.jit, static_argnames=("n", "w", "h", "c"))
def reorganise(n, x, w, h, c, out):
    """taken apart and put together again

    out[i] = x[i / (c * h * w) * c * h * w + i / w % h * c * w + i % w * c + i / (h * w) % c]
        for 0 <= i < n
    """
    return out.at[:n].set(
        jnp.transpose(
            jnp.resize(x, (-(-n // (c * h * w)), h, w, c)), (0, 3, 1, 2)
        ).ravel()[:n]
    )  # kernel.cu:32
