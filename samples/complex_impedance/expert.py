"""Impedance of branches over frequency by hand, in the source's complex numbers: taken apart into real and imaginary
parts it would be other arithmetic, which overflows elsewhere."""

import jax


@jax.jit
def complex_impedance(r, l, c, omega, z, power):  # noqa: E741
    r = r[:, None]
    z = r + 1j * omega * l[:, None] + 1.0 / (1j * omega * c[:, None])
    current = 1.0 / z
    return z, r * (current.real**2 + current.imag**2)


def large(rng):
    r, l, c = 0.5 + rng.random((3, 300))  # noqa: E741
    omega, z = 0.5 + rng.random(1000), rng.random((300, 1000))
    return {"complex_impedance": {"r": r, "l": l, "c": c, "omega": omega, "z": z.astype("complex128"), "power": z}}
