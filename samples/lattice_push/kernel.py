from numba import cuda


@cuda.jit
def lattice_push(f, g, weight, rate):
    """One step of a lattice gas on a torus: relax towards equilibrium, then move on along the nine directions."""
    i, j = cuda.grid(2)
    nx = f.shape[1]
    ny = f.shape[2]
    ex = (0, 1, 0, -1, 0, 1, -1, -1, 1)
    ey = (0, 0, 1, 0, -1, 1, 1, -1, -1)
    if i < nx and j < ny:
        density = 0.0
        ux = 0.0
        uy = 0.0
        for q in range(9):
            density += f[q, i, j]
            ux += ex[q] * f[q, i, j]
            uy += ey[q] * f[q, i, j]
        ux /= density
        uy /= density
        for q in range(9):
            along = 3.0 * (ex[q] * ux + ey[q] * uy)
            rest = weight[q] * density * (1.0 + along + 0.5 * along * along - 1.5 * (ux * ux + uy * uy))
            g[q, (i + ex[q]) % nx, (j + ey[q]) % ny] = f[q, i, j] + rate * (rest - f[q, i, j])
