"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("imageW", "imageH"))
def convolution_rows(dst, src, imageW, imageH, c_Kernel):
    """row filter with zeros outside of the image; the coefficients are in constant memory

    dst[y, x] = sum_(-3 <= k < 4 where k + x >= 0 and k + x < imageW) src[y, k + x] * c_Kernel[3 - k]
        for 0 <= x < imageW, 0 <= y < imageH
    """
    if imageW < 1:
        return dst
    src2 = src[: imageH * imageW].reshape(imageH, imageW)
    src_padded = jnp.pad(src2, ((0, 0), (3, 3)))
    dst2 = (
        src_padded[:, :-6] * c_Kernel[6]
        + src_padded[:, 1:-5] * c_Kernel[5]
        + src_padded[:, 2:-4] * c_Kernel[4]
        + src_padded[:, 3:-3] * c_Kernel[3]
        + src_padded[:, 4:-2] * c_Kernel[2]
        + src_padded[:, 5:-1] * c_Kernel[1]
        + src_padded[:, 6:] * c_Kernel[0]
    )  # kernel.cu:16
    return dst.at[: imageH * imageW].set(dst2.ravel())
