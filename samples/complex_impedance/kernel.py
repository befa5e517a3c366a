from numba import njit


@njit
def complex_impedance(r, l, c, omega, z, power):
    """Impedance of series RLC branches over frequency, and the real power drawn at 1 V."""
    for i in range(r.shape[0]):
        for k in range(omega.shape[0]):
            w = omega[k]
            zik = r[i] + 1j * w * l[i] + 1.0 / (1j * w * c[i])
            z[i, k] = zik
            current = 1.0 / zik
            power[i, k] = current.real * current.real * r[i] + current.imag * current.imag * r[i]
