"""A direct Fourier transform by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def dft(signal, spectrum):
    k = jnp.arange(signal.size)
    return jnp.exp(-2j * jnp.pi * k[:, None] * k / signal.size) @ signal


def large(rng):
    signal = rng.random(1000) + 1j * rng.random(1000)
    return {"dft": {"signal": signal, "spectrum": 0 * signal}}
