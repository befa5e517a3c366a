"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp

TWO_PI = 6.283185307179586


@jax.jit
def dft(signal, spectrum):
    """Direct Fourier transform of a complex signal.

    spectrum[k] = 0.0 + 0j + sum_t signal[t] * complex(cos(angle), sin(angle))  for 0 <= k < n
    """
    n = signal.shape[0]
    k = jnp.arange(n)
    t = jnp.arange(n)
    angle = -TWO_PI * k[:, None] * t / n  # kernel.py:15
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        s = (
            0.0 + 0.0j + jax.lax.complex(jnp.cos(angle), jnp.sin(angle)) @ signal
        )  # kernel.py:14
    return spectrum.at[:n].set(s)  # kernel.py:17
