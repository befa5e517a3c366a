"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


def stacked(term, places):
    """``term(k)`` for every k, along an axis in front."""
    return jnp.stack([term(k) for k in places])


def windows_max(x, size, strides, padding=0):
    """The largest element of each window, by largest ones of windows that grow to its size."""
    start = -jnp.inf if jnp.issubdtype(x.dtype, jnp.inexact) else jnp.iinfo(x.dtype).min
    x = jnp.pad(x, padding, constant_values=start)
    for axis, (count, stride) in enumerate(zip(size, strides)):
        before, width = (slice(None),) * axis, 1
        while width < count:
            step = min(width, count - width)
            x = jnp.maximum(x[(*before, slice(-step))], x[(*before, slice(step, None))])
            width += step
        x = x[(*before, slice(None, None, stride))]
    return x


def windows_min(x, size, strides, padding=0):
    """The smallest element of each window, by smallest ones of windows that grow to its size."""
    start = jnp.inf if jnp.issubdtype(x.dtype, jnp.inexact) else jnp.iinfo(x.dtype).max
    x = jnp.pad(x, padding, constant_values=start)
    for axis, (count, stride) in enumerate(zip(size, strides)):
        before, width = (slice(None),) * axis, 1
        while width < count:
            step = min(width, count - width)
            x = jnp.minimum(x[(*before, slice(-step))], x[(*before, slice(step, None))])
            width += step
        x = x[(*before, slice(None, None, stride))]
    return x


@partial(jax.jit, static_argnames="n")
def window_extrema(signal, range, peak, n):
    """The range of a signal over windows that end at its borders, and where each window's largest element is.

    range[i] = high - low  for 0 <= i < n
    peak[i] = i + argmax_(0 <= k < 5 where i + k - 2 < n and i + k - 2 >= 0)(signal[i + k - 2]) - 2
        if max_(0 <= k < 5 where i + k - 2 < n and i + k - 2 >= 0)(signal[i + k - 2]) > -1e+30 else
        i
        for 0 <= i < n
    """
    largest = windows_max(signal[:n], (5,), (1,), ((2, 2),))
    high = jnp.maximum(-1e30, largest)  # kernel.cu:10
    low = jnp.minimum(signal[:n], windows_min(signal[:n], (5,), (1,), ((2, 2),)))
    range = range.at[:n].set(high - low)  # kernel.cu:17
    i = jnp.arange(n)
    signal_padded = jnp.pad(signal[:n], 2, constant_values=-jnp.inf)

    def term(k):
        return jax.lax.dynamic_slice_in_dim(signal_padded, k, n)

    at = jnp.where(
        largest > -1e30, i + jnp.argmax(stacked(term, (0, 1, 2, 3, 4)), axis=0) - 2, i
    )  # kernel.cu:10
    peak = peak.at[:n].set(at.astype(peak.dtype))  # kernel.cu:18
    return range, peak
