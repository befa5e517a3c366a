import math

from numba import cuda


@cuda.jit
def coulomb_self(phi, q, x):
    """Potential at each charge of all the others: the distance to itself is zero."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        s = 0.0
        for j in range(x.shape[0]):
            if i == j:
                continue
            s += q[j] / abs(x[i] - x[j])
        phi[i] = s
