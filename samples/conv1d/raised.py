"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


def summed(term, *ranges, shape=None):
    """The sum of ``term(k, ...)`` over ranges: written out if it is short, else a loop."""
    first, *others = ranges
    terms = len(first)
    for other in others:
        terms *= len(other)

    if not terms and shape is not None:
        return jnp.zeros(shape, int)

    def part(k):
        return summed(lambda *rest: term(k, *rest), *others) if others else term(k)

    if 0 < terms <= 64:
        return sum(part(k) for k in first)
    one = jax.eval_shape(part, first.start)
    if len(first) > one.size:  # more terms than places: all at once
        every = jax.vmap(part)(jnp.arange(first.start, first.stop))
        return every.sum(0, dtype=one.dtype)

    def add(k, total):
        return total + jax.checkpoint(part)(k)

    zeros = jnp.zeros(one.shape, one.dtype)
    return jax.lax.fori_loop(first.start, first.stop, add, zeros)


@jax.jit
def conv1d(signal, taps, out):
    """Valid correlation of a signal with a short filter.

    out[i] = sum_k signal[i + k] * taps[k]  for 0 <= i < out.shape[0]
    """

    def term(k):
        return jax.lax.dynamic_slice_in_dim(signal, k, out.shape[0]) * taps[k]

    return summed(term, range(taps.shape[0]), shape=out.shape).astype(
        out.dtype
    )  # kernel.py:12
