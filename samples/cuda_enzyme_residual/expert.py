"""What a damped oscillation leaves unexplained, by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def residual(t, seen, amplitude, damping, omega, n):
    rest = amplitude * jnp.exp(-damping * t[:n]) * jnp.cos(omega * t[:n]) - seen[:n]
    return 0.5 * (rest @ rest)
