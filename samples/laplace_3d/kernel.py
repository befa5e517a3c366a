from numba import cuda


@cuda.jit
def laplace_3d(u, out, inv_h2):
    """Seven-point Laplacian in the interior of the grid; the rim of ``out`` is left alone."""
    i, j, k = cuda.grid(3)
    nx, ny, nz = u.shape
    if 0 < i < nx - 1 and 0 < j < ny - 1 and 0 < k < nz - 1:
        centre = u[i, j, k]
        out[i, j, k] = inv_h2 * (
            u[i - 1, j, k]
            + u[i + 1, j, k]
            + u[i, j - 1, k]
            + u[i, j + 1, k]
            + u[i, j, k - 1]
            + u[i, j, k + 1]
            - 6.0 * centre
        )
