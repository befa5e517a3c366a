"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


def summed(term, *ranges, shape=None):
    """The sum of ``term(k, ...)`` over ranges: written out unless there are too many."""
    first, *others = ranges
    terms = len(first)
    for other in others:
        terms *= len(other)
    if not terms and shape is not None:
        return jnp.zeros(shape, int)

    def part(k):
        return summed(lambda *rest: term(k, *rest), *others) if others else term(k)

    if 0 < terms <= 128:
        return sum(part(k) for k in first)
    one = jax.eval_shape(part, first.start)
    axes = ",".join("abcdefgh"[: one.ndim])
    every = jnp.vectorize(part, signature=f"()->({axes})")
    return every(jnp.arange(first.start, first.stop)).sum(0, dtype=one.dtype)


@jax.jit
def conv1d(signal, taps, out):
    """Valid correlation of a signal with a short filter.

    out[i] = sum_k signal[i + k] * taps[k]  for 0 <= i < out.shape[0]
    """

    def term(k):
        return 1.0 * jax.lax.dynamic_slice_in_dim(signal, k, out.shape[0]) * taps[k]

    return summed(term, range(taps.shape[0]), shape=out.shape).astype(
        out.dtype
    )  # kernel.py:12
