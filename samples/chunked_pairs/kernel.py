import math

from numba import cuda


@cuda.jit
def screened_field(x, q, potential, field, kappa):
    """Potential and field of screened charges on a line, each at each other; all pairs."""
    i = cuda.grid(1)
    n = x.shape[0]
    if i < n:
        v = 0.0
        f = 0.0
        for j in range(n):
            if j != i:
                d = x[i] - x[j]
                r = abs(d)
                part = q[j] * math.exp(-kappa * r) / r
                v += part
                f += part * (kappa + 1.0 / r) * d / r
        potential[i] = v
        field[i] = f


def total_energy(x, q, n):
    """Energy of all pairs, and nothing else."""
    e = 0.0
    for i in range(n):
        for j in range(n):
            e += 0.5 * q[i] * q[j] / (1.0 + (x[i] - x[j]) ** 2)
    return e
