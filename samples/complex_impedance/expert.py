"""Impedance of branches over frequency by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def complex_impedance(r, l, c, omega, z, power):  # noqa: E741
    r = r[:, None]
    z = jax.lax.complex(jnp.broadcast_to(r, z.shape), omega * l[:, None] - 1.0 / (omega * c[:, None]))
    return z, r / (z.real**2 + z.imag**2)


def large(rng):
    r, l, c = 0.5 + rng.random((3, 300))  # noqa: E741
    omega, z = 0.5 + rng.random(1000), rng.random((300, 1000))
    return {"complex_impedance": {"r": r, "l": l, "c": c, "omega": omega, "z": z.astype("complex128"), "power": z}}
