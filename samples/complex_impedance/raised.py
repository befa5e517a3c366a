"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def complex_impedance(r, l, c, omega, z, power):
    """Impedance of series RLC branches over frequency, and the real power drawn at 1 V.

    z[i, k] = r[i] + 1j * omega[k] * l[i] + 1.0 / (1j * omega[k] * c[i])
        for 0 <= i < r.shape[0], 0 <= k < omega.shape[0]
    power[i, k] = real(current) * real(current) * r[i] + imag(current) * imag(current) * r[i]
        for 0 <= i < r.shape[0], 0 <= k < omega.shape[0]
    """
    n = r.shape[0]
    m = omega.shape[0]
    zik = (
        r[:, None] + 1.0j * omega * l[:n, None] + 1.0 / (1.0j * omega * c[:n, None])
    )  # kernel.py:10
    z = z.at[:n, :m].set(zik)  # kernel.py:11
    current = 1.0 / zik
    real = jnp.real(current)
    imag = jnp.imag(current)
    power = power.at[:n, :m].set(
        real * real * r[:, None] + imag * imag * r[:, None]
    )  # kernel.py:13
    return z, power
