import math

from numba import njit

TWO_PI = 2.0 * math.pi


@njit
def dft(signal, spectrum):
    """Direct Fourier transform of a complex signal."""
    n = signal.shape[0]
    for k in range(n):
        s = 0.0 + 0.0j
        for t in range(n):
            angle = -TWO_PI * k * t / n
            s += signal[t] * complex(math.cos(angle), math.sin(angle))
        spectrum[k] = s
