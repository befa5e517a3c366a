"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Stages of fast transforms: each thread takes a pair at a distance that the host halves or doubles.
"""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("half", "n"))
def walsh_stage(v, half, n):
    """v[t_high, low] += v[t_high, low + half]
        for 0 <= t_high < (n // 2 - 1) // half + 1, 0 <= low < half, where t_high * half + low < n // 2
    v[t_high, low + half] = v.0[t_high, low] - v.0[t_high, low + half]
        for 0 <= t_high < (n // 2 - 1) // half + 1, 0 <= low < half, where t_high * half + low < n // 2

    half is a power of two (it masks an index)
    """
    if half & half - 1:
        raise ValueError("walsh_stage: half must be a power of two")
    t_high = jnp.arange((n // 2 - 1) // half + 1)
    low = jnp.arange(half)
    below = t_high[:, None] * half + low < n // 2
    v2 = jnp.resize(v, ((n // 2 - 1) // half + 1, 2 * half))
    q = v2[: max((n // 2 - 1) // half + 1, 0), half:]  # kernel.py:13
    v2_2 = jnp.stack(
        (
            jnp.where(below, v2[:, :half] + q, v2[:, :half]),
            jnp.where(below, v2[:, :half] - q, q),
        ),
        axis=1,
    ).reshape(v2.shape)  # kernel.py:15
    return v.at[: ((n // 2 - 1) // half + 1) * (2 * half)].set(v2_2.ravel()[: v.size])


@partial(jax.jit, static_argnames=("half", "n"))
def fourier_stage(re, im, cos, sin, half, n):
    """One stage of a transform in bit-reversed order; the table holds the turns of the last stage.

    re[t_high, k + half] = re[t_high, k] - x
        for 0 <= t_high < (n // 2 - 1) // half + 1, 0 <= k < half, where t_high * half + k < n // 2
    im[t_high, k + half] = im[t_high, k] - y
        for 0 <= t_high < (n // 2 - 1) // half + 1, 0 <= k < half, where t_high * half + k < n // 2
    re[t_high, k] += re.0[t_high, k + half] * cos[k * (n // (2 * half))] - im.0[t_high, k + half] *
        sin[k * (n // (2 * half))]
        for 0 <= t_high < (n // 2 - 1) // half + 1, 0 <= k < half, where t_high * half + k < n // 2
    im[t_high, k] += re.0[t_high, k + half] * sin[k * (n // (2 * half))] + im.0[t_high, k + half] *
        cos[k * (n // (2 * half))]
        for 0 <= t_high < (n // 2 - 1) // half + 1, 0 <= k < half, where t_high * half + k < n // 2
    """
    if half < 1:
        return re, im
    t_high = jnp.arange((n // 2 - 1) // half + 1)
    k = jnp.arange(half)
    below = t_high[:, None] * half + k < n // 2
    re2 = jnp.resize(re, ((n // 2 - 1) // half + 1, 2 * half))
    re_at = re2[: max((n // 2 - 1) // half + 1, 0), half:]
    product = k * (n // (2 * half))
    c = cos.at[product].get(mode="clip")  # kernel.py:28
    im2 = jnp.resize(im, ((n // 2 - 1) // half + 1, 2 * half))
    im_at = im2[: max((n // 2 - 1) // half + 1, 0), half:]
    s = sin.at[product].get(mode="clip")
    x = re_at * c - im_at * s
    y = re_at * s + im_at * c
    re2_2 = jnp.reshape(
        jnp.stack(
            (
                jnp.where(below, re2[:, :half] + x, re2[:, :half]),
                jnp.where(below, re2[:, :half] - x, re_at),
            ),
            axis=1,
        ),
        re2.shape,
    ).astype(re.dtype)  # kernel.py:33
    im2_2 = jnp.reshape(
        jnp.stack(
            (
                jnp.where(below, im2[:, :half] + y, im2[:, :half]),
                jnp.where(below, im2[:, :half] - y, im_at),
            ),
            axis=1,
        ),
        im2.shape,
    ).astype(im.dtype)  # kernel.py:34
    re_2 = re.at[: ((n // 2 - 1) // half + 1) * (2 * half)].set(
        re2_2.ravel()[: re.size]
    )
    im = im.at[: ((n // 2 - 1) // half + 1) * (2 * half)].set(im2_2.ravel()[: im.size])
    return re_2, im
