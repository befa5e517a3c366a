"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax


@jax.jit
def laplace_3d(u, out, inv_h2):
    """Seven-point Laplacian in the interior of the grid; the rim of ``out`` is left alone.

    out[i, j, k] = inv_h2 * (u[i - 1, j, k] + u[i + 1, j, k] + u[i, j - 1, k] + u[i, j + 1, k] +
        u[i, j, k - 1] + u[i, j, k + 1] - 6.0 * u[i, j, k])
        for 1 <= i < nx - 1, 1 <= j < ny - 1, 1 <= k < nz - 1
    """
    nx, ny, nz = u.shape
    if 0 in u.shape:
        return out
    return out.at[1 : nx - 1, 1 : ny - 1, 1 : nz - 1].set(
        inv_h2
        * (
            u[:-2, 1:-1, 1:-1]
            + u[2:, 1:-1, 1:-1]
            + u[1:-1, :-2, 1:-1]
            + u[1:-1, 2:, 1:-1]
            + u[1:-1, 1:-1, :-2]
            + u[1:-1, 1:-1, 2:]
            - 6.0 * u[1:-1, 1:-1, 1:-1]
        )
    )  # kernel.py:11
