from numba import njit


@njit
def heat_steps(u, v, r, steps):
    """Explicit heat conduction in a plate with a fixed rim, two half-steps a round (u -> v -> u)."""
    ny, nx = u.shape
    for _ in range(steps):
        for y in range(1, ny - 1):
            for x in range(1, nx - 1):
                v[y, x] = u[y, x] + r * (u[y, x - 1] + u[y, x + 1] + u[y - 1, x] + u[y + 1, x] - 4.0 * u[y, x])
        for y in range(1, ny - 1):
            for x in range(1, nx - 1):
                u[y, x] = v[y, x] + r * (v[y, x - 1] + v[y, x + 1] + v[y - 1, x] + v[y + 1, x] - 4.0 * v[y, x])
