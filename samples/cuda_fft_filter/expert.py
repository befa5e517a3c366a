"""A convolution by transforms by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def multiply(signal, filter, scale, n):
    (sx, sy), (fx, fy) = signal[:n].T, filter[:n].T
    return signal.at[:n].set(scale * jnp.stack((sx * fx - sy * fy, sx * fy + sy * fx), axis=1))


@partial(jax.jit, static_argnames="n")
def convolve(signal, filter, n):
    spectrum = jnp.fft.rfft(signal[:n]) * jnp.fft.rfft(filter[:n])
    return signal.at[:n].set(jnp.fft.irfft(spectrum, n))


def large(rng):
    n = 1 << 18
    signal, filter = rng.random((2, n + 1), "f")
    pairs = rng.random((2, n, 2), "f")
    return {
        "multiply": {"signal": pairs[0], "filter": pairs[1], "scale": 0.5, "n": n},
        "convolve": {"signal": signal, "filter": filter / n, "n": n},
    }
