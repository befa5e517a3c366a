"""A rod's conductivity from its temperatures: the misfit of a simulation, and what to differentiate."""

from numba import cuda


@cuda.jit
def conduct(u, v, k, dt):
    i = cuda.grid(1)
    if 0 < i < u.shape[0] - 1:
        v[i] = u[i] + dt * (k[i] * (u[i + 1] - u[i]) - k[i - 1] * (u[i] - u[i - 1]))


@cuda.jit
def square_error(u, measured, error):
    i = cuda.grid(1)
    if i < u.shape[0]:
        error[i] = (u[i] - measured[i]) ** 2


def misfit(u0, k, measured, error, dt, steps):
    """Squared errors after some steps."""
    n = u0.shape[0]
    blocks = (n + 127) // 128
    u = cuda.to_device(u0)
    v = cuda.to_device(u0)
    for _ in range(steps):
        conduct[blocks, 128](u, v, k, dt)
        u, v = v, u
    square_error[blocks, 128](u, measured, error)
    return error
