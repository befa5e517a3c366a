"""Derivatives along a rod, one-sided at its ends, and a chain that is closed: plain loops and a numba kernel."""

from numba import cuda


def derivative(u, h, du):
    n = u.shape[0]
    for i in range(n):
        if i == 0:
            du[i] = (u[i + 1] - u[i]) / h
        elif i == n - 1:
            du[i] = (u[i] - u[i - 1]) / h
        else:
            du[i] = (u[i + 1] - u[i - 1]) / (2.0 * h)
    return du


@cuda.jit
def relax(u, out, steps):
    i = cuda.threadIdx.x
    n = u.shape[0]
    for _ in range(steps):
        if i < n:
            if i == 0 or i == n - 1:
                out[i] = u[i]
            else:
                out[i] = 0.25 * u[i - 1] + 0.5 * u[i] + 0.25 * u[i + 1]
        cuda.syncthreads()
        if i < n:
            u[i] = out[i]
        cuda.syncthreads()


@cuda.jit
def ring(x, force, k):
    i = cuda.grid(1)
    n = x.shape[0]
    if i < n:
        left = x[n - 1] if i == 0 else x[i - 1]
        right = x[0] if i == n - 1 else x[i + 1]
        force[i] = k * (left - 2.0 * x[i] + right)
