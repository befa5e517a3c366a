import math

from numba import cuda


@cuda.jit
def vector_angle(theta, u, v):
    """Angles between pairs of vectors: parallel, opposite, and of length zero."""
    i = cuda.grid(1)
    if i < u.shape[0]:
        nu = math.sqrt(u[i, 0] * u[i, 0] + u[i, 1] * u[i, 1])
        nv = math.sqrt(v[i, 0] * v[i, 0] + v[i, 1] * v[i, 1])
        if nu < 1e-6 or nv < 1e-6:
            theta[i] = 0.0
            return
        c = (u[i, 0] * v[i, 0] + u[i, 1] * v[i, 1]) / (nu * nv)
        if c > 0.999:
            theta[i] = 0.0
        elif c < -0.999:
            theta[i] = math.pi
        else:
            theta[i] = math.acos(c)
