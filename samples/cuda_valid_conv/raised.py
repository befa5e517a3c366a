"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(
    jax.jit, static_argnames=("batch", "channels", "height", "width", "filters", "taps")
)
def correlate(in_, bank, offset, out, batch, channels, height, width, filters, taps):
    """Correlation of a batch of pictures with a bank of filters, where the filters fit.

    out[n, f, p, q] = max(offset[f] + sum_(c, i, j) in[n, c, i + p, j + q] * bank[f, c, i, j], 0.0)
        for 0 <= q < width + 1 - taps, 0 <= p < height + 1 - taps, 0 <= n < batch, 0 <= f < filters
    """
    in4 = in_[: batch * channels * height * width].reshape(
        batch, channels, height, width
    )
    bank4 = bank[: filters * channels * taps * taps].reshape(
        filters, channels, taps, taps
    )
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        sum = offset[:filters, None, None] + jax.lax.conv_general_dilated(
            in4, bank4, (1, 1), "VALID", dimension_numbers=("NCHW", "OIHW", "NCHW")
        )  # kernel.cu:10
    out4 = jnp.maximum(sum, 0.0)  # kernel.cu:15
    return out.at[: batch * filters * (height + 1 - taps) * (width + 1 - taps)].set(
        out4.ravel()
    )
